import type { Issue } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json-object.ts'
import { type PortUse, portRefusal } from '../../network/outbound/port-policy.ts'
import type { KindRules, Target } from '../probe/probe.ts'
import type { Configuration } from './options.ts'
import { kindRules } from './probe-kinds.ts'

/** Control characters, with which a text could become a second command. A tab is white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * Returns why a configuration must not be probed: a control character in a text that is sent where none belongs, or a
 * port that is for another protocol. Checked for input, and again before each probe, because options that were stored
 * before a rule existed may break it.
 */
export function wireIssues({ kind, options }: Configuration): Issue[] {
  const { sentTexts, target, relays, portUse }: KindRules = kindRules[kind]
  const issues = pathsWithControls(sentTexts ? sentTexts(options) : options, []).map((path) => ({
    path,
    message: 'must not have control characters or line breaks',
  }))
  const place = target(options)
  const proxies = relays?.(options) ?? []
  return [
    ...issues,
    ...(place ? portIssues(place, portUse?.(options) ?? 'application', portPaths[kind] ?? ['port']) : []),
    ...proxies.flatMap((proxy) => portIssues(proxy, 'application', ['proxy', 'url'])),
  ]
}

/** The options that contain the port, if that is not `port`. */
const portPaths: Partial<Record<Configuration['kind'], string[]>> = { HTTP: ['url'], DNS: ['resolver'] }

function portIssues({ port }: Target, use: PortUse, path: string[]): Issue[] {
  const refusal = port === null ? null : portRefusal(port, use)
  return refusal === null ? [] : [{ path, message: `must not use ${refusal}` }]
}

function pathsWithControls(value: unknown, path: readonly string[]): string[][] {
  if (typeof value === 'string') return CONTROL.test(value) ? [[...path]] : []
  if (Array.isArray(value)) return value.flatMap((each, index) => pathsWithControls(each, [...path, String(index)]))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) =>
    CONTROL.test(name) ? [[...path]] : pathsWithControls(each, [...path, name]),
  )
}
