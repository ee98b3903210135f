import type { AddressKey } from '../alerting/channel-address.ts'
import type { Issue } from '../core/errors.ts'
import type { MonitorKind } from '../generated/prisma/enums.ts'
import { secretsOf } from '../monitoring/monitor/option-list.ts'
import { optionKeys } from '../monitoring/monitor/options.ts'
import { isRecord } from '../monitoring/monitor/secrets.ts'

/** The fields of a channel's address that allow sending to it or in its name. */
const channelSecrets: Readonly<Record<AddressKey, readonly string[]>> = {
  mail: [],
  push: [],
  webhook: ['url'],
  slack: ['url'],
  discord: ['url'],
  teams: ['url'],
  mattermost: ['url'],
  telegram: ['botToken'],
  // Anyone who knows a topic without a token can read and write it (docs.ntfy.sh/publish).
  ntfy: ['topic', 'token'],
  gotify: ['token'],
  pushover: ['token', 'user'],
  pagerduty: ['routingKey'],
  opsgenie: ['apiKey'],
  matrix: ['accessToken'],
}

/** Options that are stored as secrets but may be literal in a file, so that reviewers can read them. */
const texts: ReadonlySet<string> = new Set(['body', 'send'])

/** Matches the names of headers that hold credentials. */
const credentialHeader = /auth|token|key|secret|cookie|passw|session|credential|signature|jwt/i
const credentialValue = /^\s*(?:bearer|basic|token|digest|apikey)\s/i

/** Matches `${NAME}`, but not the escaped `$${NAME}`. */
const placeholder = /(?<!\$)\$\{\w+\}/

/** The search stops after this many issues. */
const MAX_ISSUES = 100

/**
 * Returns an issue for each literal credential in a file where `${NAME}` is required: passwords, tokens, keys, header values that
 * hold them, and secret addresses of channels. Request bodies and texts to send may be literal.
 * @param file the parsed YAML of any shape, before values are filled in.
 */
export function literalSecrets(file: unknown): Issue[] {
  const issues: Issue[] = []
  for (const { value, path, name } of secretsIn(file)) {
    if (issues.length >= MAX_ISSUES) break
    if (typeof value !== 'string' || value === '' || placeholder.test(value)) continue
    const message = `is a secret: replace it with \${${name}} and set ${name} in the environment`
    issues.push({ path, message })
  }
  return issues
}

interface Found {
  readonly value: unknown
  readonly path: readonly string[]
  /** A suggested environment variable. */
  readonly name: string
}

function* secretsIn(file: unknown): Generator<Found> {
  for (const [key, monitor] of entriesOf(file, 'monitors')) yield* monitorSecrets(key, monitor)
  for (const [key, channel] of entriesOf(file, 'channels')) yield* secretsOfChannel(key, channel)
}

const kinds = new Map<string, MonitorKind>(Object.entries(optionKeys))

function* monitorSecrets(key: string, monitor: unknown): Generator<Found> {
  for (const [field, options] of entriesIn(monitor)) {
    const kind = kinds.get(field)
    const secrets = kind === undefined || !isRecord(options) ? [] : secretsOf(kind)
    for (const secret of secrets) yield* secretsAt(options, secret, ['monitors', key, field])
  }
}

const addresses = new Map<string, readonly string[]>(Object.entries(channelSecrets))

function* secretsOfChannel(key: string, channel: unknown): Generator<Found> {
  for (const [field, address] of entriesIn(channel)) {
    for (const name of addresses.get(field) ?? []) {
      const isProtected = name === 'topic' && typeof ownOf(address, 'token') === 'string'
      if (!isProtected) yield foundAt(ownOf(address, name), ['channels', key, field, name])
    }
  }
}

function* secretsAt(options: unknown, secret: readonly string[], path: readonly string[]): Generator<Found> {
  const [first = '', second, field = ''] = secret
  if (texts.has(first)) return
  if (second !== '*') {
    const value = secret.reduce<unknown>((inner, name) => ownOf(inner, name), options)
    yield foundAt(value, [...path, ...secret])
    return
  }
  const items = ownOf(options, first)
  if (!Array.isArray(items)) return
  for (const [index, item] of items.entries()) {
    const [value, name] = [ownOf(item, field), String(ownOf(item, 'name'))]
    const isCredential = credentialHeader.test(name) || (typeof value === 'string' && credentialValue.test(value))
    if (isCredential) yield foundAt(value, [...path, first, String(index), field], name)
  }
}

/** @param last the end of the variable's name. Default: the last part of the path. */
function foundAt(value: unknown, path: readonly string[], last = path.at(-1) ?? ''): Found {
  const words = `${path[1] ?? ''} ${last.replace(/([a-z])([A-Z])/g, '$1 $2')}`
  const name = words.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()
  return { value, path, name: (/^\d/.test(name) ? `_${name}` : name).slice(0, 100) }
}

const entriesOf = (file: unknown, section: string) => entriesIn(ownOf(file, section))

const entriesIn = (value: unknown): [string, unknown][] => (isRecord(value) ? Object.entries(value) : [])

const ownOf = (value: unknown, field: string): unknown =>
  isRecord(value) && Object.hasOwn(value, field) ? value[field] : undefined
