// Package studies is the list of studies: questions that are asked of many runs. A study is one package,
// which implements results.Study: settings, a plan, and a summary of what was run, a result that is also the
// JSON output and what is stored, with tables and figures; and one entry in Studies, from which its command
// and its sections of the report follow:
//
//	ablation      the design decisions of the model (table A.2)
//	sweep         accuracy against the number of groups (section 4.3)
//	search        settings of one method on one data set (supplement A)
//	comparison    LAGO and the baselines by one protocol (table 1)
//	robustness    noisy class descriptions (figure A.1)
//	grouping      the groups that a soft model learned (section 4.3)
//	protocol      one method, or all variants, by the paper's protocol (tables 1 and A.1)
//
// No study imports another. They rest on experiments/runs, which trains and stores, and on
// experiments/answers, which predicts and evaluates with trained models.
package studies
