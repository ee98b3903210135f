import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Issue } from '../../core/errors.ts'
import { issueMessage } from '../../core/issue-message.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { atMostOne, exactlyOne, invalid } from '../../core/validation.ts'
import type { Monitor, Prisma } from '../../generated/prisma/client.ts'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import type { PrivateTargetRule } from '../../network/outbound/destination-policy.ts'
import { hostRefusals } from '../probe/host.ts'
import type { KindRules } from '../probe/probe.ts'
import type { KindOptions } from './probe-kinds.ts'
import { kindRules } from './probe-kinds.ts'
import { changeSecrets, isRecord, recipientOf, withKeptSecrets, withoutSecrets } from './secrets.ts'
import { wireIssues } from './wire-issues.ts'

/** The kinds, by the input field that has their options. */
export const optionKeys = Object.fromEntries(
  Object.keys(kindRules).map((kind) => [kind.toLowerCase(), kind]),
) as unknown as { readonly [K in MonitorKind as Lowercase<K>]: K }

type OptionKey = keyof typeof optionKeys

const keys = Object.keys(optionKeys) as OptionKey[]

/** Returns the input field that has the options of a kind. */
export const optionKeyOf = (kind: MonitorKind) => kind.toLowerCase() as OptionKey

/** The input fields that hold options, for schemas. `readOptions` and `changeOptions` validate them. */
export const optionFields = Object.fromEntries(keys.map((key) => [key, z.unknown().optional()])) as Readonly<
  Record<OptionKey, z.ZodOptional<z.ZodUnknown>>
>

/** The validated options of a kind, with secrets opened. */
export type Configuration = { [K in MonitorKind]: { readonly kind: K; readonly options: KindOptions[K] } }[MonitorKind]

/** The fields of an input that have options. Null counts as absent. */
export type OptionsInput = { readonly [K in OptionKey]?: unknown }

/**
 * Validates the options of a new monitor, which must have exactly one kind. Null fields count as absent.
 * @param rule whether its organization may reach private networks.
 * @throws Invalid `INVALID_INPUT` with the paths of the input, including when the target is not allowed.
 */
export function readOptions(rule: PrivateTargetRule, input: OptionsInput): Configuration {
  const key = exactlyOne(keys, input)
  const configuration = read(key, input[key])
  return requireAllowed(key, configuration, refusalsOf(configuration, rule))
}

/**
 * Returns a monitor's options after an update: given options replace all options. A secret given as null (the value of
 * a header, a body, the text sent over TCP) is kept while its recipient stays the same. If it were kept for another
 * recipient, anyone who may edit a monitor could send its secrets to another server. Options that stay the same are
 * accepted even if the target is no longer allowed.
 * @throws Invalid like `readOptions`, when the options are of another kind, and when secrets would be kept for another
 * scheme, host or port.
 */
export function changeOptions(rule: PrivateTargetRule, input: OptionsInput, before: Configuration): Configuration {
  const key = atMostOne(keys, input)
  if (key === null) return before
  if (optionKeys[key] !== before.kind) {
    throw invalid([
      { path: [key], message: `must not be given: this monitor is of kind ${before.kind}, and the kind cannot change` },
    ])
  }
  const { input: completed, kept } = withKeptSecrets(input[key], before)
  const after = read(key, completed)
  if (kept.length > 0 && recipientOf(after) !== recipientOf(before)) {
    throw invalid(kept.map((path) => ({ path: [key, ...path], message: SECRET_NOT_KEPT })))
  }
  const isSame = isDeepStrictEqual(after, before)
  return requireAllowed(key, after, isSame ? [] : refusalsOf(after, rule))
}

/** Returns the options to store. Secrets are sealed for this monitor only. */
export function sealOptions(
  seal: SecretBox,
  monitorId: string,
  { kind, options }: Configuration,
): Prisma.InputJsonObject {
  const sealed = changeSecrets(kind, options, (secret, what) => seal.seal(secret, `${monitorId} ${what}`))
  // The options of every kind are JSON, sealed or not.
  return sealed as Prisma.InputJsonObject
}

/**
 * Reads a monitor's stored options and opens their secrets.
 * @throws Error when they cannot be opened or are invalid. That never happens to options that this service has stored.
 */
export function openOptions(
  seal: SecretBox,
  { id, kind, options }: Pick<Monitor, 'id' | 'kind' | 'options'>,
): Configuration {
  return parsed(
    kind,
    changeSecrets(kind, options, (sealed, what) => seal.open(sealed, `${id} ${what}`)),
  )
}

/** A monitor's kind and its options without secrets: with the names of headers only, and with flags such as `hasBody`. */
export interface RedactedConfiguration {
  readonly kind: MonitorKind
  readonly options: Readonly<Record<string, unknown>>
}

/** Returns a monitor's options without secrets. Does not open the secrets. */
export function redactOptions({ kind, options }: Pick<Monitor, 'kind' | 'options'>): RedactedConfiguration {
  const blank = parsed(
    kind,
    changeSecrets(kind, options, () => ''),
  )
  return { kind, options: withoutSecrets(kind, blank.options) }
}

const SECRET_NOT_KEPT = 'must be sent again: a secret is kept only while the scheme, host, port and proxy stay the same'

/** Parses the options of a kind. @throws Invalid. */
function read(key: OptionKey, input: unknown): Configuration {
  const kind = optionKeys[key]
  const result = kindRules[kind].options.safeParse(withoutNulls(input), { error: issueMessage })
  if (result.success) return configurationOf(kind, result.data)
  throw within(
    key,
    result.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
  )
}

/** Returns options without refusals, and without texts that could become commands. @throws Invalid. */
function requireAllowed(key: OptionKey, configuration: Configuration, refusals: readonly Issue[]): Configuration {
  const issues = [...wireIssues(configuration), ...refusals]
  if (issues.length > 0) throw within(key, issues)
  return configuration
}

/** Creates the error for issues in the options of a kind. */
const within = (key: OptionKey, issues: readonly Issue[]) =>
  invalid(issues.map((issue) => ({ ...issue, path: [key, ...issue.path] })))

function parsed<K extends MonitorKind>(kind: K, options: unknown): Extract<Configuration, { kind: K }> {
  return configurationOf(kind, kindRules[kind].options.parse(options))
}

/** Creates a configuration. TypeScript cannot see that the validated options belong to the kind. */
function configurationOf<K extends MonitorKind>(kind: K, options: unknown): Extract<Configuration, { kind: K }> {
  return { kind, options } as Extract<Configuration, { kind: K }>
}

/** Returns why a target is not allowed. Does not resolve names; the probe checks resolved addresses. */
function refusalsOf({ kind, options }: Configuration, rule: PrivateTargetRule): Issue[] {
  const { subject, target, refusals }: KindRules = kindRules[kind]
  if (refusals) return refusals(options, rule)
  const host = target(options)?.host
  return host === undefined || subject === null ? [] : hostRefusals(subject, host, rule)
}

/** Removes fields that are null or undefined. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined)
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutNulls(field)]))
}
