import { isDeepStrictEqual } from 'node:util'
import { lazily } from '../core/lazily.ts'
import { AlertChange, MonitorKind } from '../generated/prisma/enums.ts'
import { optionKeys } from '../monitoring/monitor/options.ts'
import { kindRules } from '../monitoring/monitor/probe-kinds.ts'
import { withSecrets } from './fields.ts'
import type { ObjectFields } from './format.ts'
import type { Section } from './sections.ts'

/** The fields that a new object has by default. Exports leave them out. */
const defaults: Readonly<Record<Section, ObjectFields>> = {
  groups: { description: '' },
  services: { description: '', group: null, status: null },
  monitors: { service: null, timeoutMs: 10_000, recoveryThreshold: 1, agreement: null, dependsOn: [] },
  pages: { services: null, description: null, accentColor: null, logoUrl: null, links: null, uptimeSource: null },
  channels: {
    when: Object.values(AlertChange),
    monitors: [],
    services: [],
    remindAfterMinutes: null,
    escalate: null,
    quietTimes: null,
  },
  templates: { title: '', translations: [], status: null, impact: null, services: [], notifySubscribers: true },
  objectives: { windowDays: null },
}

/** Returns fields in the form of a file: without defaults, and with null for secrets. */
export function withoutDefaults(section: Section, fields: ObjectFields): ObjectFields {
  const isNew = (name: string, value: unknown) =>
    name in defaults[section] && isDeepStrictEqual(value, defaults[section][name])
  const left = Object.entries(fields).filter(([name, value]) => !isNew(name, value))
  return Object.fromEntries(left.map(([name, value]) => [name, withoutDefaultOptions(name, withSecrets(value, null))]))
}

const kinds = new Map(Object.entries(optionKeys))
/** The default options of each kind, found by parsing its smallest valid options. */
const optionDefaults = lazily(() => new Map(Object.values(MonitorKind).map((kind) => [kind, defaultsOf(kind)])))

/** Removes default values from the options of a monitor. Returns other fields unchanged. */
export function withoutDefaultOptions(name: string, value: unknown): unknown {
  const kind = kinds.get(name)
  if (kind === undefined || typeof value !== 'object' || value === null) return value
  const own = optionDefaults().get(kind) ?? {}
  return Object.fromEntries(
    Object.entries(value).filter(([field, option]) => !(field in own && isDeepStrictEqual(option, own[field]))),
  )
}

function defaultsOf(kind: MonitorKind): Readonly<Record<string, unknown>> {
  const { options, smallest } = kindRules[kind]
  const given = smallest as object
  return Object.fromEntries(Object.entries(options.parse(given) as object).filter(([name]) => !(name in given)))
}
