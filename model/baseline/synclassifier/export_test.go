package synclassifier

// What tests take apart.
var (
	SquaredHinge   = squaredHinge
	OneVersus      = oneVersusOther
	Hinge          = hinge
	Phantoms       = phantoms
	MedianDistance = medianDistance
	Similarities   = similarities
	Margins        = Config.margins
	ProblemOf      = Config.problem
	Fit            = Config.fit
)

// Smoothing is how far from the hinge the smooth one is at most, twice.
const Smoothing = smoothing
