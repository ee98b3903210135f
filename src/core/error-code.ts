/** Returns the code of an error of Node or PostgreSQL, such as `ENOENT` or `23505`; empty: none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
