// Package ablation takes the model's design decisions apart, the paper's table A.2.
package ablation
