/** Stands for a secret, of which it holds a keyed hash. */
export interface Secret {
  readonly secret: string
}

/** Returns whether a value stands for a secret. */
export function isSecret(value: unknown): value is Secret {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'secret'
}
