// Package lab runs trials, several at a time, and reads the runs of a folder. All
// questions of package experiments use it.
//
// Each trial has its own folder, named by its settings, so that equal trials are trained
// once, whatever command asks for them. The folder is locked while its trial is trained;
// the system frees the lock of a process that dies, and the next one resumes from the
// checkpoint. To spread a grid over machines, start one process per Shard, for example
// with Slurm or Kubernetes, on a shared folder.
//
// The package knows trials and their results, not the questions asked of them.
package lab
