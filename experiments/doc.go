// Package experiments is the list of studies: questions that are asked of many runs. A study is one
// package, with its settings, its plans for the engine, and a result that is also the JSON output
// and what is stored, with tables and figures; and one entry in Studies, from which its command and
// its sections of the report follow:
//
//	ablation      the design decisions of the model (table A.2)
//	sweep         accuracy against a number: of groups (section 4.3), or of classes, samples,
//	              attributes, groups or entries that there are
//	search        settings of one variant on one data set (supplement A)
//	comparison    LAGO and the baselines by one protocol (table 1)
//	robustness    noisy and partial class descriptions (figure A.1)
//	grouping      the groups that a soft model learned (section 4.3)
//	extract       features of photographs, as a data set
//	evaluation    accuracy, calibration and coverage of models and score files
//	predict       classes of new samples
//	explain       one prediction by attribute groups
//	report        the stored results of a folder of runs, as one HTML page
//	runs          the list of runs in a folder
//	protocol      one method, or all variants, by the paper's protocol (tables 1 and A.1)
//
// They share:
//
//	lab        runs trials, many at a time, and reads the runs of a folder
//	config     the settings of a run and their presets
//	engine     arms of methods on parts of the classes, dev stage -> epochs -> test stage, and
//	           the search of settings
//	results    accuracies over seeds and classes, rows of tables, figures
//	predictor  one trained model with its candidates: scores, predictions and the reasons for them
//	adaptation when and how predictions are adapted to a batch of unlabelled samples
//	published  the numbers and settings of the paper
//	plot       figures
//
// No study imports another. The report shows the results of all.
package experiments
