import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import type { Monitor, Prisma } from '../generated/prisma/client.ts'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import { mayReach, PRIVATE_NETWORKS_HINT } from '../network/outbound/guard.ts'
import { readHost } from '../network/outbound/host.ts'
import type { Seal } from '../seal.ts'
import { atMostOne, exactlyOne, invalid } from '../validate.ts'
import { dnsRefusals } from './probe/dns.ts'
import type { KindOptions } from './probes.ts'
import { kindRules } from './probes.ts'
import { changeSecrets, isRecord, recipientOf, withKeptSecrets } from './secrets.ts'

/** What an input calls the options of each kind. */
export const optionKeys = {
  http: 'HTTP',
  tcp: 'TCP',
  dns: 'DNS',
  ping: 'PING',
  heartbeat: 'HEARTBEAT',
  blacklist: 'BLACKLIST',
} as const satisfies Record<string, MonitorKind>

type OptionKey = keyof typeof optionKeys

const keys = Object.keys(optionKeys) as OptionKey[]

/** The options of a kind, as its schema gives them, with secrets open. */
export type Configuration = { [K in MonitorKind]: { readonly kind: K; readonly options: KindOptions[K] } }[MonitorKind]

/** The part of an input that says what is watched, and how. What is null is as good as absent. */
export type OptionsInput = { readonly [K in OptionKey]?: unknown }

/**
 * Reads the one kind of options that the input for a new monitor holds. Members that are null are as good as absent.
 * @throws Invalid `INVALID_INPUT` with the paths of the input, also when what is named may not be reached.
 */
export function readOptions({ config }: Pick<Context, 'config'>, input: OptionsInput): Configuration {
  const key = exactlyOne(keys, input)
  return read(config, key, input[key])
}

/**
 * The options of a monitor after a change: those given replace all it had, without any it keeps them. A secret that is null
 * (the value of a header, a body, what is sent over TCP) stays what it was, as long as nobody else is told it: who may
 * change a monitor could otherwise have its secrets sent to a server of their own.
 * @throws Invalid as `readOptions` does, when the options are another kind's, and when secrets would be kept for another
 * scheme, host or port.
 */
export function changeOptions(
  { config }: Pick<Context, 'config'>,
  input: OptionsInput,
  before: Configuration,
): Configuration {
  const key = atMostOne(keys, input)
  if (key === null) return before
  if (optionKeys[key] !== before.kind) {
    throw invalid([{ path: [key], message: `must not be given: this monitor is of kind ${before.kind}, which stays` }])
  }
  const { input: completed, kept } = withKeptSecrets(input[key], before)
  const after = read(config, key, completed)
  if (kept.length > 0 && recipientOf(after) !== recipientOf(before)) {
    throw invalid(kept.map((path) => ({ path: [key, ...path], message: ELSEWHERE })))
  }
  return after
}

/** Options as they are stored: what may be secret is sealed, for this monitor alone. */
export function sealOptions(seal: Seal, monitorId: string, { kind, options }: Configuration): Prisma.InputJsonObject {
  const sealed = changeSecrets(kind, options, (secret, what) => seal.seal(secret, `${monitorId} ${what}`))
  // What a kind's schema gives is JSON, and stays so.
  return sealed as Prisma.InputJsonObject
}

/**
 * A monitor's options with secrets opened, to be probed with.
 * @throws Error when they cannot be opened or are not what its kind takes: nobody but us has written them.
 */
export function openOptions(
  seal: Seal,
  { id, kind, options }: Pick<Monitor, 'id' | 'kind' | 'options'>,
): Configuration {
  return parsed(
    kind,
    changeSecrets(kind, options, (sealed, what) => seal.open(sealed, `${id} ${what}`)),
  )
}

/** Options as their owner sees them: of headers the names alone, of a body and of what is sent over TCP that there is one. */
export type ShownOptions = {
  readonly [K in MonitorKind]: K extends 'HTTP'
    ? Omit<KindOptions[K], 'headers' | 'body'> & {
        readonly headers: readonly { readonly name: string }[]
        readonly hasBody: boolean
      }
    : K extends 'TCP'
      ? Omit<KindOptions[K], 'send'> & { readonly hasSend: boolean }
      : KindOptions[K]
}

/** A monitor's kind with its options as their owner sees them. */
export type ShownConfiguration = {
  [K in MonitorKind]: { readonly kind: K; readonly options: ShownOptions[K] }
}[MonitorKind]

/** A monitor's options without what is secret; nothing is opened for that. */
export function shownOptions({ kind, options }: Pick<Monitor, 'kind' | 'options'>): ShownConfiguration {
  const blank: Configuration = parsed(
    kind,
    changeSecrets(kind, options, () => ''),
  )
  switch (blank.kind) {
    case 'HTTP': {
      const { headers, body, ...rest } = blank.options
      const names = headers.map(({ name }) => ({ name }))
      return { kind: blank.kind, options: { ...rest, headers: names, hasBody: body !== undefined } }
    }
    case 'TCP': {
      const { send, ...rest } = blank.options
      return { kind: blank.kind, options: { ...rest, hasSend: send !== undefined } }
    }
    default:
      return blank
  }
}

const ELSEWHERE = 'must be given again: a secret is kept only for the scheme, host and port that it was given for'

function read({ ALLOW_PRIVATE_NETWORKS }: Context['config'], key: OptionKey, input: unknown): Configuration {
  const kind = optionKeys[key]
  const result = kindRules[kind].options.safeParse(withoutNulls(input), {
    error: (issue) => (issue.code === 'invalid_type' && issue.input === undefined ? 'must be given' : undefined),
  })
  const within = (issues: readonly { path: readonly PropertyKey[]; message: string }[]) =>
    invalid(issues.map(({ path, message }) => ({ path: [key, ...path.map(String)], message })))
  if (!result.success) throw within(result.error.issues)
  const configuration = configurationOf(kind, result.data)
  const refusals = refusalsOf(configuration, ALLOW_PRIVATE_NETWORKS)
  if (refusals.length > 0) throw within(refusals)
  return configuration
}

function parsed<K extends MonitorKind>(kind: K, options: unknown): Extract<Configuration, { kind: K }> {
  return configurationOf(kind, kindRules[kind].options.parse(options))
}

/** The registry gives each kind's schema, but not that what it reads belongs to the kind. */
function configurationOf<K extends MonitorKind>(kind: K, options: unknown): Extract<Configuration, { kind: K }> {
  return { kind, options } as Extract<Configuration, { kind: K }>
}

/** What an owner names and may not have reached, as far as that shows without looking names up; a run sees the rest. */
function refusalsOf({ kind, options }: Configuration, allowPrivate: boolean): Issue[] {
  switch (kind) {
    case 'HTTP':
      return hostRefusals('url', new URL(options.url).hostname, allowPrivate)
    case 'TCP':
    case 'PING':
      return hostRefusals('host', options.host, allowPrivate)
    case 'DNS':
      return dnsRefusals(options, allowPrivate)
    default:
      return []
  }
}

function hostRefusals(member: string, text: string, allowPrivate: boolean): Issue[] {
  const host = readHost(text)
  const refused =
    (host?.kind === 'address' && !mayReach(host.address, allowPrivate)) ||
    (host?.kind === 'this machine' && !allowPrivate)
  const why = allowPrivate ? '' : `; ${PRIVATE_NETWORKS_HINT}`
  return refused ? [{ path: [member], message: `must be reachable from the internet: this address is not${why}` }] : []
}

/** The input without members that are null or undefined. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]))
}
