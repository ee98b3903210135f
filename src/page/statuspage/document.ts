import type { Database } from '../../context.ts'
import type { Incident as IncidentRow, Maintenance } from '../../generated/prisma/client.ts'
import type { PageState } from '../../status/page-state.ts'
import { readIncidentStories, readMaintenanceStories } from '../../status/story.ts'
import { bounds } from '../bounds.ts'
import { readNewestIncidents, readNewestMaintenances } from '../chronicle.ts'
import type { Component } from './component.ts'
import { componentsOf } from './component.ts'
import type { Incident, ScheduledMaintenance } from './incident.ts'
import { incidentsOf, maintenancesOf } from './incident.ts'
import type { StatuspageSource } from './source.ts'
import { readSource } from './source.ts'
import type { Rollup } from './words.ts'
import { rollupOf } from './words.ts'

/** What every document says of the page itself. */
export interface PageOfDocument {
  readonly page: {
    readonly id: string
    readonly name: string
    readonly url: string
    readonly time_zone: string
    readonly updated_at: string
  }
}

/** A document as JSON: its page, and those parts that are at its path. Lists are there also when they are empty. */
export interface StatuspageDocument extends PageOfDocument {
  readonly components?: readonly Component[]
  readonly incidents?: readonly Incident[]
  readonly scheduled_maintenances?: readonly ScheduledMaintenance[]
  readonly status?: Rollup
}

type Part = 'components' | 'incidents' | 'scheduled_maintenances' | 'status'

/** A document's path under the page's address, what it holds, and of which incidents and maintenances it tells. */
interface Kind {
  readonly path: string
  readonly parts: readonly Part[]
  incidents?(state: PageState, db: Database): readonly IncidentRow[] | Promise<readonly IncidentRow[]>
  maintenances?(state: PageState, db: Database): readonly Maintenance[] | Promise<readonly Maintenance[]>
}

/** How many incidents or maintenances a list has. */
const MOST = bounds.statuspage.entries

const running = ({ status }: Maintenance) => status !== 'SCHEDULED'

/**
 * The documents that an Atlassian Statuspage serves to anyone, by their paths (its API v2: `{page}/api`,
 * https://www.mongodb.com/docs/api/doc/cloud-status describes one).
 */
export const statuspageKinds: readonly Kind[] = [
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
    incidents: ({ organization }, db) => readNewestIncidents(db, organization.id, MOST),
  },
  { path: '/api/v2/incidents/unresolved.json', parts: ['incidents'], incidents: (state) => state.incidents },
  {
    path: '/api/v2/scheduled-maintenances.json',
    parts: ['scheduled_maintenances'],
    maintenances: ({ organization }, db) => readNewestMaintenances(db, organization.id, MOST),
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

/** A document of a page whose public address is `url`, as of the state's snapshot. */
export async function readStatuspage(
  db: Database,
  kind: Kind,
  state: PageState,
  url: string,
): Promise<StatuspageDocument> {
  const foundIncidents = ((await kind.incidents?.(state, db)) ?? []).slice(0, MOST)
  const foundMaintenances = ((await kind.maintenances?.(state, db)) ?? []).slice(0, MOST)
  const incidents = await readIncidentStories(db, foundIncidents, boundsFor(foundIncidents.length))
  const maintenances = await readMaintenanceStories(db, foundMaintenances, boundsFor(foundMaintenances.length))
  const source = await readSource(db, { state, incidents, maintenances, url })
  const parts = kind.parts.map((part) => [part, write[part](source)])
  return { ...pageOf(source), ...Object.fromEntries(parts) }
}

/** Few have more services each than many. */
function boundsFor(count: number) {
  const { services, story } = bounds.statuspage
  return { ...story, services: Math.max(story.services, Math.floor(services / count)) }
}

const write = {
  components: componentsOf,
  incidents: incidentsOf,
  scheduled_maintenances: maintenancesOf,
  status: ({ state }: StatuspageSource) => rollupOf(state.status),
} as const satisfies Record<Part, (source: StatuspageSource) => unknown>

function pageOf({ state, url, changedAt }: StatuspageSource): PageOfDocument {
  const { id, name, timeZone } = state.organization
  return { page: { id, name, url, time_zone: timeZone, updated_at: changedAt.toISOString() } }
}
