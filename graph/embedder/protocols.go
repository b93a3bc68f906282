package embedder

import (
	"encoding/json"
	"fmt"
)

type openAIRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Format     string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// openAIVectors reads {"data": [{"index": I, "embedding": [...]}, ...]}; the order is
// that of the indexes, not that of the list.
func openAIVectors(answer []byte, n int) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, err
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(a.Data), n)
	}
	out := make([][]float32, n)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("index %d comes twice or is none of 0 to %d", d.Index, n-1)
		}
		out[d.Index] = d.Embedding
		if d.Embedding == nil {
			return nil, fmt.Errorf("no vector for index %d", d.Index)
		}
	}
	return out, nil
}

type ollamaRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// ollamaVectors reads {"embeddings": [[...], ...]}.
func ollamaVectors(answer []byte, n int) ([][]float32, error) {
	var a struct {
		Embeddings [][]float32 `json:"embeddings"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, err
	}
	if len(a.Embeddings) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(a.Embeddings), n)
	}
	return a.Embeddings, nil
}
