/** A placeholder for a secret, with a keyed hash of it. */
export interface Secret {
  readonly secret: string
}

/** Returns whether a value is a placeholder for a secret. */
export function isSecret(value: unknown): value is Secret {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'secret'
}
