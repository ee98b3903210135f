/**
 * The one table of what a stranger may send. Whatever reads a request asks it first, before any other code sees the
 * input: a limit that comes after `normalize`, a regular expression or a parser is no limit.
 */

/** The limit of one kind of input. */
interface InputLimit {
  /** The largest accepted amount. */
  readonly most: number
  /** Characters are UTF-16 code units, as in `String.length`. */
  readonly unit: 'bytes' | 'characters' | 'fields' | 'members' | 'levels' | 'tokens'
  /** What is limited, as the guide says it. */
  readonly what: string
}

const KIB = 1024

const limit = (most: number, unit: InputLimit['unit'], what: string): InputLimit => ({ most, unit, what })

/** Forms of pages. */
export const formLimits = {
  fields: limit(2000, 'fields', 'the fields of a form'),
  fieldName: limit(200, 'characters', 'the name of a form’s field'),
  /** Some, such as messages and files as text, may have more. */
  fieldText: limit(2 * KIB, 'characters', 'one field of a form'),
} as const

/** What people enter to sign in. */
export const signInLimits = {
  /** NIST SP 800-63B §3.1.1.2 requires that 64 are accepted. */
  password: limit(200, 'characters', 'a password'),
  /** An address has at most 254 octets (RFC 5321 §4.5.3.1.3); the rest is for spaces around it. */
  email: limit(320, 'characters', 'the email address of an account'),
  /** Recovery codes have 16 letters, in groups. */
  code: limit(40, 'characters', 'a code of an authenticator app, or a recovery code'),
} as const

/** Documents and variables of GraphQL. */
export const graphqlLimits = {
  /** Also limits a text in variables, such as a configuration file, and a list of numbers or texts. */
  body: limit(128 * KIB, 'bytes', 'a GraphQL request, or a message of a websocket'),
  documentTokens: limit(4000, 'tokens', 'a document'),
  documentDepth: limit(200, 'levels', 'the nesting of a document'),
  /** The longest name of the schema has 38 characters; generated names of fragments are longer. */
  documentName: limit(200, 'characters', 'a name in a document'),
  /** A hundred monitors with all their options have about 5,000. */
  variableMembers: limit(10_000, 'members', 'the members of all objects in variables, and the objects in lists'),
  /** The widest input of the schema has 27. An operation may have more variables. */
  variableWidth: limit(100, 'members', 'one object in variables'),
  /** The deepest input of the schema has 7. */
  variableDepth: limit(20, 'levels', 'the nesting of variables'),
  variableName: limit(100, 'characters', 'the name of a variable or of a member in it'),
} as const
