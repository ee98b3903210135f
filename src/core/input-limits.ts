/**
 * The one table of what a stranger may send. Whatever reads a request asks it first, before any other code sees the
 * input: a limit that comes after `normalize`, a regular expression or a parser is no limit.
 */

/** The limit of one kind of input. */
export interface InputLimit {
  /** The largest accepted amount. */
  readonly most: number
  /** Characters are UTF-16 code units, as in `String.length`. */
  readonly unit: 'bytes' | 'characters' | 'fields' | 'members' | 'levels' | 'tokens' | 'pieces'
  /** What is limited, as the guide says it. */
  readonly what: string
}

const KIB = 1024

const limit = (most: number, unit: InputLimit['unit'], what: string): InputLimit => ({ most, unit, what })

/** The address and the headers of a request. */
export const requestLimits = {
  /** Node.js refuses more by itself (`--max-http-header-size`). */
  head: limit(16 * KIB, 'bytes', 'the address and all headers of a request'),
  path: limit(4 * KIB, 'characters', 'the path of an address'),
  query: limit(12 * KIB, 'characters', 'the query of an address'),
  /** A hundred ids have 3,300. GraphQL and the REST API limit their queries themselves, and answer in their own form. */
  parameter: limit(4 * KIB, 'characters', 'one parameter of a query, decoded'),
  /** Proxies add large tokens to headers that are not read here; `Cookie` and `Authorization` may be as large as all. */
  header: limit(8 * KIB, 'characters', 'one header'),
  /** `shortHeaders`: those whose value is parsed for every request. */
  shortHeader: limit(1 * KIB, 'characters', 'headers such as Accept, Content-Type, Host and Origin'),
} as const

/** The bodies of requests. Those of GraphQL are below. */
export const bodyLimits = {
  check: limit(64 * KIB, 'bytes', 'a bulk check by REST'),
  heartbeat: limit(1024 * KIB, 'bytes', 'the output of a job in a heartbeat, of which 10 KiB are kept'),
  incomingAlert: limit(256 * KIB, 'bytes', 'an alert of another tool'),
  paymentEvent: limit(256 * KIB, 'bytes', 'an event of a payment provider'),
  passkey: limit(128 * KIB, 'bytes', 'the answer of a passkey'),
  pushSubscription: limit(16 * KIB, 'bytes', 'the subscription of a browser to push messages'),
  smallForm: limit(8 * KIB, 'bytes', 'a form that opens a private page or pays'),
  publicForm: limit(64 * KIB, 'bytes', 'a form of the operator, or of a subscriber'),
  /** With what was typed before the sign-in. */
  signInForm: limit(256 * KIB, 'bytes', 'a form that signs in'),
  consoleForm: limit(2 * 1024 * KIB, 'bytes', 'a form of the console'),
  logo: limit(256 * KIB, 'bytes', 'a logo'),
  incidentFile: limit(5 * 1024 * KIB, 'bytes', 'a file of an incident'),
  importedFile: limit(20_000_000, 'bytes', 'a file that is imported'),
  /** Encoders that send each token of JSON by itself make pieces of 5 to 10 bytes; these bodies have 50 kB and more. */
  smallPieces: limit(10_000, 'pieces', 'a chunked body whose pieces have fewer than 16 bytes on average'),
} as const

/** Forms of pages. */
export const formLimits = {
  fields: limit(2000, 'fields', 'the fields of a form'),
  fieldName: limit(200, 'characters', 'the name of a form’s field'),
  /** An address has at most 2,048. `longFields` may have more. */
  fieldText: limit(4 * KIB, 'characters', 'one field of a form'),
  /** A line break counts twice, as browsers send it. */
  prose: limit(20 * KIB, 'characters', 'a message, a description or a note in a form'),
  /** A thousand ids have 29,000; ten headers of a probe have 40,000. */
  list: limit(64 * KIB, 'characters', 'a list of lines or ids, or a certificate, in a form'),
  /** The form itself is smaller, except where files are imported. */
  file: limit(bodyLimits.importedFile.most, 'characters', 'a file that is pasted into a form'),
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

/** The fields of forms that may be longer than others, by the last part of their name. */
export const longFields: Readonly<Record<string, InputLimit>> = {
  description: formLimits.prose,
  message: formLimits.prose,
  note: formLimits.prose,

  body: formLimits.list,
  certificate: formLimits.list,
  expected: formLimits.list,
  expectedHeaders: formLimits.list,
  key: formLimits.list,
  locked: formLimits.list,
  mailDomains: formLimits.list,
  origins: formLimits.list,
  ranges: formLimits.list,
  rest: formLimits.list,
  send: formLimits.list,
  targets: formLimits.list,
  value: formLimits.list,
  variables: formLimits.list,

  csv: formLimits.file,
  held: formLimits.file,
  prepared: formLimits.file,
  text: formLimits.file,
}

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
