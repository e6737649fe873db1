// Package xlsa17 reads and writes data sets in the folder layout of the release that
// came with "Zero-Shot Learning - A Comprehensive Evaluation of the Good, the Bad
// and the Ugly" (Xian et al., 2017), together with the attribute groups and class
// descriptions that the authors of LAGO added:
//
//	CUB/
//	  res101.mat             features (D x samples) and labels; or the one .mat that has features
//	  att_splits.mat         allclasses_names, original_att, train_loc, val_loc, trainval_loc, test_seen_loc, test_unseen_loc
//	  trainclasses1.txt      and 2, 3: classes to develop on
//	  valclasses1.txt        and 2, 3: classes to choose hyper-parameters by
//	  trainvalclasses.txt    both together: the seen classes
//	  testclasses.txt        the unseen classes
//	  meta/
//	    attribute_names_with_semantic_group.txt    "has_bill_shape::dagger", one a line
//	    class_descriptions_by_attributes.txt       p(attribute | class), one class a line
//	    classes.txt                                whose line is whose; without it, the order of the .mat
//
// Copies of the release differ in much; what is accepted is said at each reader.
// The classes decide the split: every image of a seen class may be trained on,
// as zero-shot papers do, and the locations are checked for agreement; those of
// test_seen_loc are what generalised zero-shot learning judges seen classes by.
// Classes are matched by
// name wherever two files name them. The att of the release, whose columns are
// L2-normalised, is never read as probabilities.
//
// Parsed features are cached as raw float32, so that the next start need not
// inflate them again; a cache is used only if it is whole and was made of the
// file as it is now.
//
// It knows the layout, not MATLAB's format (package matlab) and not what holds
// for all data sets (dataset.Check).
package xlsa17
