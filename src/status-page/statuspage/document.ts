import type { Database } from '../../core/context.ts'
import type { Incident as IncidentRow, Maintenance } from '../../generated/prisma/client.ts'
import type { Language } from '../../language/catalogue.ts'
import type { PageState } from '../../status/page/page-state.ts'
import { readIncidentTimelines, readMaintenanceTimelines } from '../../status/timeline/timeline-reader.ts'
import { inLanguage } from '../../status/timeline/translations.ts'
import { bounds } from '../bounds.ts'
import { readNewestIncidents, readNewestMaintenances } from '../timeline-queries.ts'
import type { Component } from './component.ts'
import { componentsOf } from './component.ts'
import type { Incident, ScheduledMaintenance } from './incident.ts'
import { incidentsOf, maintenancesOf } from './incident.ts'
import type { Rollup } from './names.ts'
import { rollupOf } from './names.ts'
import type { StatuspageSource } from './source.ts'
import { readStatuspageSource } from './source.ts'

/** The page object that every document contains. */
interface PageOfDocument {
  readonly page: {
    readonly id: string
    readonly name: string
    readonly url: string
    readonly time_zone: string
    readonly updated_at: string
  }
}

/** A JSON document: the page and the parts of its path. Contains lists even when they are empty. */
export interface StatuspageDocument extends PageOfDocument {
  readonly components?: readonly Component[]
  readonly incidents?: readonly Incident[]
  readonly scheduled_maintenances?: readonly ScheduledMaintenance[]
  readonly status?: Rollup
}

type Part = 'components' | 'incidents' | 'scheduled_maintenances' | 'status'

/** A document's path under the page's address, its parts, and the queries for its incidents and maintenances. */
interface StatuspageKind {
  readonly path: string
  readonly parts: readonly Part[]
  incidents?(state: PageState, db: Database): readonly IncidentRow[] | Promise<readonly IncidentRow[]>
  maintenances?(state: PageState, db: Database): readonly Maintenance[] | Promise<readonly Maintenance[]>
}

/** The maximum number of incidents or maintenances in a list. */
const MAX_INCIDENTS = bounds.statuspage.entries

const running = ({ status }: Maintenance) => status !== 'SCHEDULED'

/**
 * The public documents of an Atlassian Statuspage, by path (its API v2: `{page}/api`,
 * https://www.mongodb.com/docs/api/doc/cloud-status describes one).
 */
export const statuspageKinds: readonly StatuspageKind[] = [
  {
    path: '/api/v2/summary.json',
    parts: ['components', 'incidents', 'scheduled_maintenances', 'status'],
    incidents: (state) => state.incidents,
    maintenances: (state) => state.maintenances,
  },
  { path: '/api/v2/status.json', parts: ['status'] },
  { path: '/api/v2/components.json', parts: ['components'] },
  {
    path: '/api/v2/incidents.json',
    parts: ['incidents'],
    incidents: ({ scope }, db) => readNewestIncidents(db, scope, MAX_INCIDENTS),
  },
  { path: '/api/v2/incidents/unresolved.json', parts: ['incidents'], incidents: (state) => state.incidents },
  {
    path: '/api/v2/scheduled-maintenances.json',
    parts: ['scheduled_maintenances'],
    maintenances: ({ scope }, db) => readNewestMaintenances(db, scope, MAX_INCIDENTS),
  },
  {
    path: '/api/v2/scheduled-maintenances/upcoming.json',
    parts: ['scheduled_maintenances'],
    maintenances: (state) => state.maintenances.filter((maintenance) => !running(maintenance)),
  },
  {
    path: '/api/v2/scheduled-maintenances/active.json',
    parts: ['scheduled_maintenances'],
    maintenances: (state) => state.maintenances.filter(running),
  },
]

/** Returns whether a document needs nothing but the state of the page. */
export function isInState({ parts }: Pick<StatuspageKind, 'parts'>): boolean {
  return parts.every((part) => part === 'status')
}

/** Reads a document of a page with the given state and public address, with texts in a language. */
export async function readStatuspage(
  db: Database,
  kind: StatuspageKind,
  { state, url, language }: Pick<StatuspageSource, 'state' | 'url'> & { readonly language: Language },
): Promise<StatuspageDocument> {
  if (isInState(kind)) return { ...pageOf({ state, url }), status: rollupOf(state.status) }
  const foundIncidents = ((await kind.incidents?.(state, db)) ?? []).slice(0, MAX_INCIDENTS)
  const foundMaintenances = ((await kind.maintenances?.(state, db)) ?? []).slice(0, MAX_INCIDENTS)
  const incidents = await readIncidentTimelines(db, foundIncidents, boundsFor(foundIncidents.length), state.scope)
  const maintenances = await readMaintenanceTimelines(
    db,
    foundMaintenances,
    boundsFor(foundMaintenances.length),
    state.scope,
  )
  const source = await readStatuspageSource(db, {
    state,
    incidents: incidents.map((incident) => inLanguage(incident, language)),
    maintenances: maintenances.map((maintenance) => inLanguage(maintenance, language)),
    url,
  })
  const parts = kind.parts.map((part) => [part, write[part](source)])
  return { ...pageOf({ state, url }), ...Object.fromEntries(parts) }
}

/** Shares the limit on services among `count` incidents or maintenances. */
function boundsFor(count: number) {
  const { services, timeline } = bounds.statuspage
  return { ...timeline, services: Math.max(timeline.services, Math.floor(services / count)) }
}

const write = {
  components: componentsOf,
  incidents: incidentsOf,
  scheduled_maintenances: maintenancesOf,
  status: ({ state }: StatuspageSource) => rollupOf(state.status),
} as const satisfies Record<Part, (source: StatuspageSource) => unknown>

function pageOf({ state, url }: Pick<StatuspageSource, 'state' | 'url'>): PageOfDocument {
  const { id, name, timeZone } = state.organization
  return { page: { id, name, url, time_zone: timeZone, updated_at: state.changedAt.toISOString() } }
}
