/**
 * The cache policy of public answers: a shared cache serves them for 4 s (RFC 9111 §5.2.2.10), and for one more while
 * it revalidates; for a day while the service fails (RFC 5861). nginx counts whole seconds, so it asks every 5 s.
 * Browsers revalidate each time.
 */
export const publicCacheControl = 'public, max-age=0, s-maxage=4, stale-while-revalidate=1, stale-if-error=86400'
