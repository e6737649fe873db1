package train_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Train on seen classes and evaluate on unseen ones.
func ExampleRun() {
	d, err := simulate.Make(simulate.Spec{
		Name: "tiny", Samples: 600, Dims: 64, Attributes: 20, Groups: 5,
		TrainClasses: 40, ValClasses: 10, TestClasses: 10,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	root, err := os.MkdirTemp("", "runs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(root) }()

	trial := train.Trial{
		Dataset: d.Name, Fingerprint: d.Fingerprint(), Stage: train.Test, Preprocess: preprocess.None,
		Model: model.Config{
			Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.Const,
			Zeta: 3, Beta: 1e-6, Lambda: 1e-4,
		},
		Training: train.Training{Epochs: 8, LearningRate: 0.01, BiasFactor: 1, LearningRateV: 0.1, Batch: 32, Patience: 8, Seed: 1},
	}
	prepare := func() (*train.Data, error) { return train.Prepare(d, trial.Preparation()) }
	result, err := train.Run(context.Background(), root, trial, prepare, train.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("ended by %s after epoch %d\n", result.Status, result.Epochs)
	fmt.Println("per-class accuracy on unseen classes above 50 %:", result.Evaluation.PerClass > 0.5)

	saved, err := train.Load(filepath.Join(root, trial.Name(), train.ModelFile))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(saved.Attributes), "attributes, the first is", saved.Attributes[0])
	// Output:
	// ended by epochs after epoch 8
	// per-class accuracy on unseen classes above 50 %: true
	// 20 attributes, the first is group01::value01
}
