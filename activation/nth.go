package activation

// nthLargest returns what stands at place n, from 1, of values in falling order. It
// reorders them (Hoare's quickselect, 1961).
func nthLargest(values []uint64, n int) uint64 {
	low, high := 0, len(values)-1
	for low < high {
		a, b, c := values[low], values[(low+high)/2], values[high]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := low, high
		for i <= j {
			for values[i] > pivot {
				i++
			}
			for values[j] < pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case n-1 <= j:
			high = j
		case n-1 >= i:
			low = i
		default:
			return values[n-1]
		}
	}
	return values[n-1]
}
