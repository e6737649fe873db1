# Prints the mean accuracy of each method of `compare --csv` over all classes, and over those whose
# names do not start with one of the words of the variable "without".
BEGIN { FS = ","; words = split(without, start, " ") }
NR == 1 { for (i = 4; i <= NF; i++) name[i] = $i; methods = NF; next }
{
  left_out = 0
  for (w = 1; w <= words; w++) if (index($1, start[w]) == 1) left_out = 1
  classes++
  kept += !left_out
  for (i = 4; i <= NF; i++) { all[i] += $i; if (!left_out) some[i] += $i }
}
END {
  printf "%-16s %12s %12s\n", "method", classes " classes", kept " classes"
  for (i = 4; i <= methods; i++) printf "%-16s %10.1f %% %10.1f %%\n", name[i], 100 * all[i] / classes, 100 * some[i] / kept
}
