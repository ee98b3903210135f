/**
 * The rights with which an input is sent: of a key, of a person who owns the organization, or of the operator, in a
 * browser or with the token.
 */
export type Caller = 'stranger' | 'READ' | 'WRITE' | 'ADMIN' | 'person' | 'operator' | 'token'

/** One hostile input. */
export interface FuzzInput {
  /** Where it is put, and its kind. */
  readonly name: string
  readonly caller: Caller
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
  /** What is sent over a websocket at `path`, given the credential; absent: the request is sent as it is. */
  readonly socket?: (authorization: string | undefined) => readonly (string | Buffer)[]
}

/** A place for inputs: an argument, a field, a part of a path. */
export interface Place {
  readonly name: string
  /** The rights with which it makes sense, the strongest first. */
  readonly callers: readonly [Caller, ...Caller[]]
  readonly kinds: readonly Kind[]
  /** Returns the request with a value in this place. */
  put(value: unknown): Omit<FuzzInput, 'name' | 'caller'>
}

import type { Kind } from './values.ts'

/** Percent-encodes a text for an address or a form; half of a surrogate pair as three bytes, as if it could be encoded. */
export function percentEncoded(text: string): string {
  return text
    .split(/([\ud800-\udfff])/)
    .map((piece) =>
      piece.length === 1 && /[\ud800-\udfff]/.test(piece) && !piece.isWellFormed() ? '%ED%A0%80' : piece,
    )
    .map((piece) => (piece === '%ED%A0%80' ? piece : encodeURIComponent(piece.toWellFormed())))
    .join('')
}

/** Returns a value as text, as a form or an address can have it. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
