/**
 * The number of latency buckets. The first holds up to 1 ms, each following one reaches 1.2 times as far, and the last
 * holds the rest.
 */
export const BUCKETS = 64

const GROWTH = 1.2

/** Returns the bucket of a latency in milliseconds. Bucket 63 starts at 81 s, which is longer than any probe takes. */
export function bucketOf(latencyMs: number): number {
  if (latencyMs <= 1) return 0
  return Math.min(Math.ceil(Math.log(latencyMs) / Math.log(GROWTH)), BUCKETS - 1)
}

/** Adds histograms bucket by bucket. */
export function mergeHistograms(histograms: readonly (readonly number[])[]): number[] {
  const sum = new Array<number>(BUCKETS).fill(0)
  for (const histogram of histograms)
    for (const [bucket, count] of histogram.entries()) sum[bucket] = (sum[bucket] ?? 0) + count
  return sum
}

/**
 * Returns the quantile `q` (0 to 1) of a histogram in milliseconds, accurate to 10 %: the geometric mean of its
 * bucket's limits; null: the histogram is empty.
 */
export function quantile(histogram: readonly number[], q: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = Math.max(1, Math.ceil(q * total))
  let seen = 0
  const bucket = histogram.findIndex((count) => {
    seen += count
    return seen >= rank
  })
  return bucket === 0 ? 1 : GROWTH ** (bucket - 0.5)
}
