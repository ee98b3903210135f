import { z } from 'zod'
import { described, idOf, named } from '../core/described.ts'
import { IncidentImpact, IncomingMode, ServiceStatus } from '../generated/prisma/enums.ts'
import type { ImpairedStatus } from '../status/service/service-status.ts'
import { impairedStatuses, worseStatus } from '../status/service/service-status.ts'
import type { AlertMember, Severity } from './kind/incoming.ts'

const MAX_RULES = 20

const label = named(
  z.object({
    name: described(z.string().min(1).max(100), { description: 'The name of the label.' }),
    value: described(z.string().min(1).max(300), { description: 'The value of the label; * matches any text.' }),
  }),
  { name: 'IntegrationLabel', about: 'A label that an alert must have.' },
)

const rule = named(
  z.object({
    labels: described(z.array(label).max(10).nullish(), {
      description: 'The labels that an alert must have. Default: none.',
    }),
    serviceId: idOf('The service that the alerts affect.').nullish(),
    status: described(named(z.enum(impairedStatuses), { name: 'ServiceStatus', of: ServiceStatus }).nullish(), {
      description: 'The status of the service. Default: derived from the impact.',
    }),
    impact: described(z.enum(IncidentImpact).nullish(), {
      description: 'The impact of the incident. Default: derived from the sender’s severity.',
    }),
    mode: described(z.enum(IncomingMode).nullish(), { description: 'What the alerts create. Default: SUGGEST.' }),
  }),
  {
    name: 'IntegrationRule',
    about:
      'A rule for alerts with certain labels. The first rule that matches decides the mode and the impact; each rule that matches adds its service.',
  },
)

/** The rules of an integration, in order. */
export const rules = z.array(rule).max(MAX_RULES, `must have at most ${MAX_RULES} rules`)

/** A rule: the alerts that it matches, and the incident that they create. */
export type Rule = z.infer<typeof rule>

/** The incident that the rules ask for. */
export interface Routing {
  readonly mode: IncomingMode
  readonly impact: IncidentImpact
  readonly services: readonly { readonly serviceId: string; readonly status: ImpairedStatus }[]
}

/**
 * Applies the rules to an alert. The first rule that matches decides the mode and the impact; each rule that matches adds its
 * service. Without rules, every alert suggests an incident.
 * @returns null if no rule matches.
 */
export function route(all: readonly Rule[], alert: AlertMember): Routing | null {
  const matching = all.filter((each) => matches(each, alert.labels))
  const [first] = matching
  if (first === undefined && all.length > 0) return null
  const impact = first?.impact ?? impactOf(alert.severity)
  const services = new Map<string, ImpairedStatus>()
  for (const { serviceId, status } of matching)
    if (serviceId != null && !services.has(serviceId)) services.set(serviceId, status ?? statusOf(impact))
  return {
    mode: first?.mode ?? 'SUGGEST',
    impact,
    services: [...services].map(([serviceId, status]) => ({ serviceId, status })),
  }
}

/**
 * Applies the rules to each member of a group. Members with the same mode share an incident, which has the services of all of them,
 * each with its worst status, and the greatest impact.
 * @returns one routing per mode, in the order of the modes' first members.
 */
export function routeMembers(all: readonly Rule[], members: readonly AlertMember[]): Routing[] {
  const byMode = new Map<IncomingMode, Routing>()
  for (const member of members) {
    const routing = route(all, member)
    if (routing === null) continue
    const known = byMode.get(routing.mode)
    byMode.set(routing.mode, known === undefined ? routing : combined(known, routing))
  }
  return [...byMode.values()]
}

function combined(one: Routing, other: Routing): Routing {
  const services = new Map(one.services.map(({ serviceId, status }) => [serviceId, status]))
  for (const { serviceId, status } of other.services)
    services.set(serviceId, worseStatus(services.get(serviceId) ?? status, status))
  return {
    mode: one.mode,
    impact: greaterImpact(one.impact, other.impact),
    services: [...services].map(([serviceId, status]) => ({ serviceId, status })),
  }
}

const impactOrder = ['NONE', 'MINOR', 'MAJOR', 'CRITICAL'] as const satisfies readonly IncidentImpact[]

/** Returns the greater of two impacts. */
export const greaterImpact = (one: IncidentImpact, other: IncidentImpact): IncidentImpact =>
  impactOrder.indexOf(one) >= impactOrder.indexOf(other) ? one : other

/** Returns whether an alert has all labels of a rule; `*` matches any text. */
function matches({ labels }: Rule, given: Readonly<Record<string, string>>): boolean {
  return (labels ?? []).every(({ name, value }) => Object.hasOwn(given, name) && isLike(given[name] ?? '', value))
}

/** Returns whether a text matches a pattern with `*`. Takes linear time, which a regular expression would not. */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return text === pattern
  const last = rest.pop() ?? ''
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const at = text.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}

const impacts = { CRITICAL: 'CRITICAL', ERROR: 'MAJOR', WARNING: 'MINOR', INFO: 'NONE' } as const

const impactOf = (severity: Severity | null): IncidentImpact => (severity === null ? 'MINOR' : impacts[severity])

const statuses = {
  NONE: 'DEGRADED_PERFORMANCE',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const satisfies Record<IncidentImpact, ImpairedStatus>

const statusOf = (impact: IncidentImpact) => statuses[impact]
