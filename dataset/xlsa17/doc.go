// Package xlsa17 reads data sets in the folder layout of the release that accompanied
// "Zero-Shot Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly"
// (Xian et al., 2017), with the attribute groups and class descriptions that the authors
// of LAGO added:
//
//	CUB/
//	  res101.mat             features (D x samples) and labels; or the one other .mat of the folder
//	  att_splits.mat         allclasses_names, original_att, train_loc, val_loc, trainval_loc, test_seen_loc, test_unseen_loc
//	  trainclasses1.txt      and 2, 3: train classes
//	  valclasses1.txt        and 2, 3: validation classes
//	  trainvalclasses.txt    train and validation classes: the seen classes
//	  testclasses.txt        test classes: the unseen classes
//	  meta/
//	    attribute_names_with_semantic_group.txt    "has_bill_shape::dagger", one per line
//	    class_descriptions_by_attributes.txt       p(attribute | class), one class per line
//	    classes.txt                                the class of each line; by default the order of the .mat
//
// Copies of the release differ; each reader says what it accepts. The class lists decide
// the split, with every sample of a seen class in it, as in zero-shot papers; the
// locations must agree with them, and those of test_seen_loc are the held-out samples of
// generalised zero-shot learning. Classes are matched by name wherever two files name
// them. The variable att of the release, whose columns are L2-normalised, is not read as
// probabilities.
//
// Features are cached in an .npy whose name has size and time of the file and the checksum: the
// next start, which need not decompress them, takes a third of the time.
//
// The package writes no data sets. It does not know MATLAB's format (package matlab) or
// what holds for all data sets (check.Errors).
package xlsa17
