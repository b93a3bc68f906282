package embed

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func loaded(t testing.TB) *Model {
	t.Helper()
	m, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func embedded(t testing.TB, m *Model, text string) Vector {
	t.Helper()
	v, ok := m.Embed(text)
	if !ok {
		t.Fatalf("%q has no known word", text)
	}
	return v
}

func cosine(a, b Vector) float64 {
	var sum float64
	for j := range a {
		sum += float64(a[j]) * float64(b[j])
	}
	return sum
}

func TestTable(t *testing.T) {
	m := loaded(t)
	if m.Words() != 20_000 || m.Dim() != 64 {
		t.Errorf("%d words, %d dimensions; want 20,000 and 64", m.Words(), m.Dim())
	}
	if got, want := fmt.Sprintf("%x", m.Source()), "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c"; got != want {
		t.Errorf("made from %s, want %s", got, want)
	}
	note, err := os.ReadFile("TABLE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprintf("%x", m.Source()), m.Model()} {
		if !strings.Contains(string(note), s) {
			t.Errorf("TABLE.md does not name %s", s)
		}
	}
	if len(table) > 1<<20 {
		t.Errorf("the table has %d bytes, more than 1 MiB", len(table))
	}
	for i := range m.Words() {
		w := []byte(m.words[m.starts[i]:m.starts[i+1]])
		if got := m.find(w, hash(w)); got != i {
			t.Fatalf("word %d, %q, is found as %d", i, w, got)
		}
		if i > 0 && m.weights[i] == 0 {
			t.Fatalf("%q weighs nothing", w)
		}
	}
}

// TestTableIsReproducible makes the table again from its source, when asked to: the
// source is 118 MB. TestTable checks the hash that the table carries every time.
func TestTableIsReproducible(t *testing.T) {
	tarball := os.Getenv("ENGRAM_WORD_VECTORS")
	if tarball == "" {
		t.Log("not asked for: set ENGRAM_WORD_VECTORS to the source's tarball, or to fetch, to make the table again")
		return
	}
	out := filepath.Join(t.TempDir(), "table.bin")
	args := []string{"run", "./gen", "-o", out}
	if tarball != "fetch" {
		args = append(args, "-tarball", tarball)
	}
	if msg, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	again, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != table {
		t.Error("the generator makes another table")
	}
}

func TestDamagedTable(t *testing.T) {
	for name, data := range map[string]string{
		"empty": "", "cut": table[:len(table)/2], "bit": table[:5000] + "\xff" + table[5001:], "mark": "X" + table[1:],
	} {
		if _, err := parse(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWords(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"Hello, WORLD!", "hello world"},
		{"well-known café naïve Œuvre straße", "well known cafe naive oeuvre strasse"},
		{"cafe\u0301 au lait", "cafe au lait"},
		{"Anna's dog didn't bark; we'll see, it’s fine", "anna dog bark we see it fine"},
		{"o'clock 'quoted' rock'n'roll", "o clock quoted rock n roll"},
		{"covid19 2023 b2b word", "word"},
		{"日本語 слово word", "word"},
		{strings.Repeat("x", 33) + " " + strings.Repeat("y", 32), strings.Repeat("y", 32)},
		{"bad \xff\xfe bytes", "bad bytes"},
	}
	for _, test := range tests {
		var got []string
		for tok := (tokens{text: test.text}); tok.next(); {
			if tok.hash != hash(tok.word()) {
				t.Errorf("%q: hash of %q differs", test.text, tok.word())
			}
			got = append(got, string(tok.word()))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%q: words %q, want %q", test.text, s, test.want)
		}
	}
}

func TestFoldingTable(t *testing.T) {
	if len(folded) != 0x180-foldStart {
		t.Fatalf("%d letters, want %d", len(folded), 0x180-foldStart)
	}
	for r, want := range map[rune]byte{'À': 'a', 'é': 'e', 'ñ': 'n', 'ø': 'o', 'ÿ': 'y', 'Ł': 'l', 'ł': 'l', 'ő': 'o', 'Š': 's', 'ů': 'u', 'ź': 'z', 'ĳ': '.', 'ğ': 'g', 'ı': 'i', 'Ķ': 'k', 'ŋ': 'n', 'ŕ': 'r', 'ţ': 't', 'ŵ': 'w'} {
		if got := folded[r-foldStart]; got != want {
			t.Errorf("%c folds to %c, want %c", r, got, want)
		}
	}
}

func TestNeighbours(t *testing.T) {
	m := loaded(t)
	tests := []struct{ text, near, far string }{
		{"the dog chased a cat", "a puppy ran after the kitten", "interest rates rose at the bank"},
		{"she plays the violin", "an orchestra of musicians", "a broken car engine"},
		{"doctor", "hospital nurse", "guitar"},
		{"He went hiking in the mountains", "a trail up the hill", "a court ruled on taxes"},
		{"I am allergic to peanuts", "what food should I avoid eating", "the train leaves at noon"},
	}
	for _, test := range tests {
		a := embedded(t, m, test.text)
		near, far := cosine(a, embedded(t, m, test.near)), cosine(a, embedded(t, m, test.far))
		if near < far+0.1 {
			t.Errorf("%q: %.3f to %q, %.3f to %q", test.text, near, test.near, far, test.far)
		}
	}
}

func TestUnknownWords(t *testing.T) {
	m := loaded(t)
	for _, s := range []string{"", "   ", "12:30", "qwertzuiop xyzzyxyz", "日本語"} {
		if v, ok := m.Embed(s); ok || v != (Vector{}) {
			t.Errorf("%q has a vector", s)
		}
	}
}

// TestForms checks that a form that is not in the table counts as its base form.
func TestForms(t *testing.T) {
	m := loaded(t)
	tests := []struct{ form, base string }{
		{"violinists", "violinist"},
		{"tiptoeing", "tiptoe"},
		{"unplugged", "unplug"},
		{"sleepily", "sleepy"},
		{"loneliest", "lonely"},
		{"blurriness", "blurry"},
		{"jogged", "jog"},
		{"ponies", "pony"},
		{"crunchier", "crunchy"},
	}
	checked := 0
	for _, test := range tests {
		if m.find([]byte(test.form), hash([]byte(test.form))) >= 0 || m.find([]byte(test.base), hash([]byte(test.base))) < 0 {
			continue
		}
		checked++
		if embedded(t, m, test.form) != embedded(t, m, test.base) {
			t.Errorf("%q does not count as %q", test.form, test.base)
		}
	}
	if checked < 3 {
		t.Errorf("only %d forms are not in the table", checked)
	}
}

// TestEmbedAgainstFloats compares with a plain weighted mean.
func TestEmbedAgainstFloats(t *testing.T) {
	m := loaded(t)
	rapid.Check(t, func(t *rapid.T) {
		picked := rapid.SliceOfN(rapid.IntRange(0, m.Words()-1), 1, 40).Draw(t, "words")
		var sum [Dim]float64
		var words []string
		for _, i := range picked {
			words = append(words, m.words[m.starts[i]:m.starts[i+1]])
			for j := range sum {
				sum[j] += float64(m.weights[i]) * float64(m.codes[i*Dim+j])
			}
		}
		var norm float64
		for _, s := range sum {
			norm += s * s
		}
		got, ok := m.Embed(strings.Join(words, " "))
		if !ok {
			t.Fatalf("no vector")
		}
		for j, s := range sum {
			if math.Abs(float64(got[j])-s/math.Sqrt(norm)) > 1e-6 {
				t.Fatalf("dimension %d: %v, want %v", j, got[j], s/math.Sqrt(norm))
			}
		}
		slices.Reverse(words)
		if other, _ := m.Embed(strings.Join(words, " ... ")); other != got {
			t.Fatalf("the order of words changes bits")
		}
	})
}

// TestBits pins bits, which must be the same on every machine.
func TestBits(t *testing.T) {
	v := embedded(t, loaded(t), "Melanie painted a sunrise over the lake last year")
	h := uint32(hashStart)
	for _, x := range v {
		h = (h ^ math.Float32bits(x)) * hashPrime
	}
	if want := uint32(0xa38a190a); h != want {
		t.Errorf("bits %#x, want %#x", h, want)
	}
}

func TestEmbedDoesNotAllocate(t *testing.T) {
	m := loaded(t)
	if n := testing.AllocsPerRun(100, func() { m.Embed("The café's unpluggings weren’t blurriness 2023") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzEmbed(f *testing.F) {
	m := loaded(f)
	f.Add("don't \xff é’s")
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := m.Embed(s)
		if got := cosine(v, v); ok != (got > 0.5) || ok && math.Abs(got-1) > 1e-5 {
			t.Errorf("length %v, ok %v", got, ok)
		}
	})
}

func BenchmarkEmbed(b *testing.B) {
	m := loaded(b)
	b.ReportAllocs()
	for b.Loop() {
		m.Embed("Did Caroline ever tell Melanie about the painting that she had finished at the lake last summer?")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		loaded(b)
	}
}

// Knowing a word is having a vector, forms of words included.
func TestKnows(t *testing.T) {
	m := loaded(t)
	for _, s := range []string{"", "   ", "12:30", "qwertzuiop xyzzyxyz", "日本語", "garden", "xyzzyxyz sleepily", "The ponies jogged."} {
		if _, ok := m.Embed(s); m.Knows(s) != ok {
			t.Errorf("%q is known: %v, has a vector: %v", s, m.Knows(s), ok)
		}
	}
}
