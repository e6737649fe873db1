# Prints the mean accuracy of each method of `compare --csv` over all classes, over those whose names do
# not start with one of the words of the variable "without", and without those of "nearly", too.
BEGIN { FS = ","; first = split(without, a, " "); words = split(without " " nearly, start, " ") }
NR == 1 { for (i = 4; i <= NF; i++) name[i] = $i; methods = NF; next }
{
  sets = 2 # that have the class, beside that of all
  for (w = words; w > 0; w--) if (index($1, start[w]) == 1) sets = w <= first ? 0 : 1
  for (set = 0; set <= sets; set++) {
    classes[set]++
    for (i = 4; i <= NF; i++) sum[set, i] += $i
  }
}
END {
  printf "%-16s", "method"
  for (set = 0; set <= 2; set++) printf " %12s", classes[set] " classes"
  for (i = 4; i <= methods; i++) {
    printf "\n%-16s", name[i]
    for (set = 0; set <= 2; set++) printf " %10.1f %%", 100 * sum[set, i] / classes[set]
  }
  print ""
}
