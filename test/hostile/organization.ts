import { createOrganization } from '../../src/account/organization/organization.ts'
import { transaction } from '../../src/core/context.ts'
import { DAY } from '../../src/core/time.ts'
import { openDatabase } from '../../src/database/client.ts'
import { insertMembership } from '../../src/people/membership.ts'
import { startSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { createService } from '../../src/status/service/service.ts'
import { testContext } from '../support/context.ts'
import { silent } from '../support/scratch.ts'
import { fillLarge, type Large } from './large.ts'

/** An organization whose page has the maximum number of texts. */
export interface Filled {
  readonly slug: string
  /** Its key, with scope ADMIN. */
  readonly key: string
  /** The session of its owner. */
  readonly session: string
  readonly organizationId: string
  readonly serviceId: string
  /** Open incidents; each has five hundred updates. */
  readonly incidentIds: readonly string[]
  /** Keys of empty organizations; each may test thirty monitors a minute, and sixty channels an hour. */
  readonly probers: readonly string[]
  /** Another organization, with the maximum number of services. */
  readonly large: Large & { readonly key: string }
}

/** How many organizations probe when each case is sent once. */
const PROBERS = 10

/**
 * Creates the organization in a database that no service uses yet: three incidents of five hundred updates, without
 * rendered HTML. @param rounds how often each case is sent.
 */
export async function fillOrganization(dataDir: string, databaseUrl?: string, rounds = 1): Promise<Filled> {
  const database = await openDatabase({ dataDir, databaseUrl, log: silent })
  try {
    const { prisma } = database
    const operator = testContext(prisma, { actor: { kind: 'operator' }, now: () => new Date() })
    const given = { name: 'Hostile', slug: `hostile-${Date.now()}`, contactEmail: 'ops@hostile.example' }
    const { organization, apiKey } = await createOrganization(operator, given)
    const { id: organizationId, slug } = organization
    await prisma.organization.update({ where: { id: organizationId }, data: { tier: 'TEAM' } })
    const { id: keyId } = apiKey.apiKey
    const actor = { kind: 'apiKey', keyId, organizationId, scope: 'ADMIN', checkPlan: 'FREE' } as const
    const owner = { ...operator, actor }
    const { id: serviceId } = await createService(owner, { name: 'API' })
    const session = await transaction(operator, async (tx) => {
      const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', {
        email: `${slug}@people.example`,
        name: 'Owner',
        passwordHash: null,
      })
      await insertMembership(tx, { organizationId, userId: user.id, role: 'OWNER' }, user.name)
      return startSession(tx, user.id, 'a browser')
    })
    const story = { status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' }
    const services = [{ serviceId, status: 'PARTIAL_OUTAGE' }]
    const incidentIds: string[] = []
    for (const title of ['One', 'Two', 'Three']) {
      incidentIds.push((await createIncident(owner, { title, services, ...story })).id)
    }
    await prisma.$executeRaw`
      INSERT INTO "IncidentUpdate" (id, "organizationId", "incidentId", status, message, "createdAt")
      SELECT 'upd_' || substr(md5(incident || n), 1, 24), ${organizationId}, incident, 'IDENTIFIED',
        repeat('We have found **the cause** and are [on it](https://status.example), as of ' || n || E'.\\n\\n- one\\n', 50),
        now() + n * interval '1 second'
      FROM unnest(${incidentIds}::text[]) AS incident, generate_series(1, 480) AS n`
    const other = { name: 'Large', slug: `large-${Date.now()}`, contactEmail: 'ops@large.example' }
    const second = await createOrganization(operator, other)
    // Old enough for reports of all months that the tier includes.
    const createdAt = new Date(Date.now() - 800 * DAY)
    await prisma.organization.update({ where: { id: second.organization.id }, data: { tier: 'TEAM', createdAt } })
    await prisma.page.updateMany({
      where: { organizationId: second.organization.id },
      data: { publishesReports: true },
    })
    const large = { ...(await fillLarge(prisma, second.organization, new Date())), key: second.apiKey.secret }
    const probers: string[] = []
    for (let n = 0; n < PROBERS * rounds; n++) {
      const prober = { name: 'Prober', slug: `prober-${n}-${Date.now()}`, contactEmail: 'ops@prober.example' }
      probers.push((await createOrganization(operator, prober)).apiKey.secret)
    }
    return { slug, key: apiKey.secret, organizationId, session, serviceId, incidentIds, probers, large }
  } finally {
    await database.close()
  }
}
