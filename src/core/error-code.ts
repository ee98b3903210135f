/** Returns the code of an error, as Node and PostgreSQL give it, such as `ENOENT` or `23505`; empty: it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
