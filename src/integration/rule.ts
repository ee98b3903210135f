import { z } from 'zod'
import { IncidentImpact, IncomingMode } from '../generated/prisma/enums.ts'
import type { IncomingAlert, Severity } from './incoming.ts'

const MAX_RULES = 20

const label = z.object({ name: z.string().min(1).max(100), value: z.string().min(1).max(300) })

const rule = z.object({
  labels: z.array(label).max(10).nullish(),
  serviceId: z.string().nullish(),
  status: z.enum(['DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE']).nullish(),
  impact: z.enum(IncidentImpact).nullish(),
  mode: z.enum(IncomingMode).nullish(),
})

/** The rules of an integration, in order. */
export const rules = z.array(rule).max(MAX_RULES, `must be at most ${MAX_RULES}`)

export type Rule = z.infer<typeof rule>

/** What the rules make of an alert. */
export interface Routing {
  readonly mode: IncomingMode
  readonly impact: IncidentImpact
  readonly services: readonly { readonly serviceId: string; readonly status: NonNullable<Rule['status']> }[]
}

/**
 * Returns what the rules make of an alert; null: none matches. The first rule that matches decides the mode and the impact, and each
 * that matches adds its service. Without rules, everything is suggested.
 */
export function route(all: readonly Rule[], alert: Pick<IncomingAlert, 'labels' | 'severity'>): Routing | null {
  const matching = all.filter((each) => matches(each, alert.labels))
  const [first] = matching
  if (first === undefined && all.length > 0) return null
  const impact = first?.impact ?? impactOf(alert.severity)
  const services = new Map<string, NonNullable<Rule['status']>>()
  for (const { serviceId, status } of matching)
    if (serviceId != null && !services.has(serviceId)) services.set(serviceId, status ?? statusOf(impact))
  return {
    mode: first?.mode ?? 'SUGGEST',
    impact,
    services: [...services].map(([serviceId, status]) => ({ serviceId, status })),
  }
}

/** Returns whether an alert has all labels of a rule; `*` stands for any text. */
function matches({ labels }: Rule, given: Readonly<Record<string, string>>): boolean {
  return (labels ?? []).every(({ name, value }) => Object.hasOwn(given, name) && isLike(given[name] ?? '', value))
}

/** Compares without regular expressions, so that no pattern takes long. */
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
} as const satisfies Record<IncidentImpact, NonNullable<Rule['status']>>

const statusOf = (impact: IncidentImpact) => statuses[impact]
