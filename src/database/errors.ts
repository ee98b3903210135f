/** The database cannot be used as it is set up. The message is for the operator and says what to do; it needs no stack. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError'
}
