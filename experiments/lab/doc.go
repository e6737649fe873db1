// Package lab carries out trials, many beside each other: the one mechanism below
// every question of package experiments.
//
// A trial has a folder of its own, named by what defines it, so that the same
// trial asked for twice, by whatever command, is trained once. The folder is
// locked while its trial is in work; the system frees the lock when the process
// dies, and whoever asks next goes on from the checkpoint. Spreading over machines
// is left to Slurm or Kubernetes: each process is told its Shard of the trials, and
// any of them finds what the others wrote in the shared folder.
//
// It knows trials and their results, not what is asked of them.
package lab
