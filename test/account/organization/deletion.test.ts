// @slow
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { checkDueDomains } from '../../../src/account/custom-domain/custom-domain-check.ts'
import { pageOnHost } from '../../../src/account/custom-domain/hosted-page.ts'
import { deleteOrganization, restoreOrganization } from '../../../src/account/organization/deletion.ts'
import { eraseDeleted } from '../../../src/account/organization/erasure.ts'
import { pageLookupOf } from '../../../src/account/page/page-guard.ts'
import type { Actor } from '../../../src/core/context.ts'
import { Conflict, Forbidden, Invalid, NotFound } from '../../../src/core/errors.ts'
import { hashSecret } from '../../../src/core/hash-secret.ts'
import { newId } from '../../../src/core/id.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { recordSignal } from '../../../src/monitoring/heartbeat/heartbeat.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { reconcileWatches } from '../../../src/monitoring/schedule/reconcile-watches.ts'
import { reconcileStaleness } from '../../../src/monitoring/state/staleness-job.ts'
import { readWatches } from '../../../src/monitoring/watch/due-watch.ts'
import { ANYWHERE } from '../../../src/monitoring/watch/live-region.ts'
import { readDeliveries } from '../../../src/notification/delivery/delivery.ts'
import { findUndispatched } from '../../../src/notification/delivery/dispatch.ts'
import { runDueMaintenance } from '../../../src/status/maintenance/maintenance-job.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { filledOrganization, mutate } from '../../support/filled-organization.ts'
import { openEventStream, post, websocketClient } from '../../support/graphql-client.ts'
import { startLiveService } from '../../support/live-service.ts'
import { startPageServer } from '../../support/page-server.ts'
import { operatorToken } from '../../support/service-data.ts'

const database = await testDatabase()
const { prisma, pool } = database
const service = await startLiveService(database, { ADMIN_TOKEN: operatorToken })
afterAll(() => service.close())
const { url } = service
const pages = await startPageServer(database, () => noon)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const operator = (milliseconds = 0) => testContext(prisma, { actor: { kind: 'operator' }, now: () => at(milliseconds) })
const system = (milliseconds = 0) => testContext(prisma, { now: () => at(milliseconds) })

const planned = { startsAt: at(HOUR), endsAt: at(2 * HOUR) }
const fill = () => filledOrganization(url, planned)
type Filled = Awaited<ReturnType<typeof fill>>

const ownerOf = (organizationId: string, scope: 'ADMIN' | 'WRITE' = 'ADMIN', milliseconds = 0) => {
  const actor: Actor = { kind: 'apiKey', keyId: 'key_test', organizationId, scope, checkPlan: 'FREE' }
  return testContext(prisma, { actor, now: () => at(milliseconds) })
}
const remove = ({ id, slug }: Filled, milliseconds = 0) =>
  deleteOrganization(ownerOf(id, 'ADMIN', milliseconds), { id, slug })

/** Returns the data of an organization that the service shows, by caller; null: none. */
async function shown({ id, slug, key, ids }: Filled) {
  const ask = async (query: string, by?: string) => (await post(url, { query, key: by })).data ?? null
  const nodes = `{ statusPage(slug: "${slug}") { slug } nodes(ids: ["${ids.Service}", "${ids.Incident}", "${id}"]) { id } }`
  const status = async (path: string) => (await fetch(`${pages.url}/status/${slug}/${path}`)).status
  return {
    visitor: await ask(nodes),
    operator: await ask(nodes, operatorToken),
    key: await ask('{ organization { id } }', key),
    documents: [await status('api/v2/summary.json'), await status('history.atom'), await status('badge.svg')],
    host:
      (await pageOnHost(pageLookupOf({ db: prisma }), { baseUrl: 'https://allclear.example' }, `${slug}.example`))?.page
        .organizationId ?? null,
  }
}

/** Adds rows to the organization's tables that the API does not fill here. */
async function fillTables({ id, slug, ids, heartbeatId }: Filled): Promise<{ token: string }> {
  const token = slug.replace(/\D/g, '').padEnd(32, 'a').slice(0, 32)
  await prisma.monitor.update({
    where: { id: heartbeatId },
    data: { heartbeatHash: hashSecret(token), state: 'UP', serviceId: ids.Service },
  })
  const subscriberId = newId('Subscriber')
  const host = `${slug}.example`
  const { id: pageId } = await prisma.page.findFirstOrThrow({ where: { organizationId: id } })
  await prisma.page.update({ where: { id: pageId }, data: { customDomain: host } })
  await prisma.pageService.create({ data: { pageId, serviceId: ids.Service, position: 0 } })
  await prisma.customDomain.create({
    data: {
      id: `dom_${slug}`,
      organizationId: id,
      pageId,
      name: host,
      token: 'x',
      state: 'PROVEN',
      requestedAt: noon,
      dueAt: at(HOUR),
    },
  })
  await prisma.pageAccess.create({ data: { pageId: ids.StatusPage, organizationId: id, kind: 'PUBLIC' } })
  const address = { address: 'a@b.example', addressHash: 'x', label: 'a', destination: 'b.example', tokenHash: slug }
  await prisma.subscriber.create({
    data: {
      id: subscriberId,
      organizationId: id,
      channel: 'EMAIL',
      ...address,
      token: '',
      topics: ['INCIDENTS'],
      allServices: true,
      createdAt: noon,
      confirmableUntil: noon,
      confirmedAt: noon,
      services: { create: { serviceId: ids.Service } },
      incidents: { create: { incidentId: ids.Incident } },
      deliveries: {
        create: {
          id: newId('Delivery'),
          organizationId: id,
          channel: 'EMAIL',
          seq: 1,
          subjectId: '',
          destination: 'b.example',
          dueAt: noon,
          createdAt: noon,
        },
      },
    },
  })
  const channel = { id: newId('AlertChannel'), organizationId: id, name: 'Ops', kind: 'MAIL', address: '' } as const
  await prisma.alertChannel.create({
    data: { ...channel, label: '', destination: 'mail', sinceSeq: 0, createdAt: noon },
  })
  await prisma.managedObject.create({
    data: {
      ...{ organizationId: id, section: 'channels', key: 'ops', file: 'allclear.yaml', objectId: channel.id },
      ...{ given: '', fields: {}, appliedSeq: 0 },
    },
  })
  const monitor = { subjectId: heartbeatId, subjectName: 'Backup' }
  await prisma.alert.create({
    data: {
      ...{ id: newId('Alert'), organizationId: id, ...monitor, change: 'DOWN', state: 'DOWN', since: noon },
      ...{ message: '', openedAt: noon, dueAt: noon },
      recipients: { create: { channelId: channel.id, notifiedAt: noon, count: 1, remindAt: noon } },
    },
  })
  const of = { organizationId: id, serviceId: ids.Service, createdAt: noon }
  await prisma.objective.create({
    data: { ...of, id: newId('Objective'), target: 99_900, timeZone: 'UTC', dueAt: noon },
  })
  const corrected = { startsAt: noon, endsAt: noon, kind: 'GOOD', reason: 'Wrong.', author: 'Ana' } as const
  await prisma.uptimeCorrection.create({ data: { ...of, ...corrected, id: newId('UptimeCorrection') } })
  const sent = { channelId: channel.id, destination: 'mail', thread: '', items: [], tokenHash: slug }
  await prisma.alertDelivery.create({
    data: { id: newId('AlertDelivery'), organizationId: id, ...sent, dueAt: noon, createdAt: noon },
  })
  await prisma.integration.create({
    data: {
      ...{
        id: newId('Integration'),
        organizationId: id,
        name: 'Prometheus',
        kind: 'ALERTMANAGER',
        hash: slug,
        rules: [],
      },
      ...{ createdAt: noon, dueAt: noon },
      bodies: { create: { id: newId('IncomingBody'), receivedAt: noon, body: '' } },
      groups: { create: { keyHash: slug, isFiring: true, routing: '', firedAt: noon } },
    },
  })
  const words = { message: 'It was full.', createdAt: noon, editedAt: noon }
  await prisma.postmortem.create({ data: { id: ids.Incident, organizationId: id, ...words } })
  await prisma.incidentNote.create({
    data: {
      ...{ id: newId('IncidentNote'), organizationId: id, incidentId: ids.Incident, message: 'Disk 3?' },
      ...{ actorKind: 'API_KEY', createdAt: noon },
    },
  })
  const file = { id: newId('IncidentFile'), organizationId: id, incidentId: ids.Incident, name: 'disk.log' }
  await prisma.incidentFile.create({
    data: { ...file, type: 'text/plain', size: 1, content: new Uint8Array([65]), createdAt: noon },
  })
  const template = {
    id: newId('Template'),
    organizationId: id,
    kind: 'UPDATE',
    name: 'Fixed',
    message: 'It is.',
  } as const
  await prisma.template.create({
    data: { ...template, createdAt: noon, services: { create: { serviceId: ids.Service, status: 'OPERATIONAL' } } },
  })
  await prisma.suppression.create({
    data: { id: `own-${slug}`, organizationId: id, reason: 'UNSUBSCRIBED', createdAt: noon },
  })
  await prisma.suppression.create({ data: { id: `all-${slug}`, reason: 'COMPLAINED', createdAt: noon } })
  const user = { id: newId('User'), email: `${slug}@people.example`, name: 'Ada', createdAt: noon }
  await prisma.user.create({
    data: { ...user, memberships: { create: { organizationId: id, role: 'OWNER', createdAt: noon } } },
  })
  const led = { incidentId: ids.Incident, organizationId: id, userId: user.id, since: noon }
  await prisma.incidentLead.create({ data: led })
  await prisma.invitation.create({
    data: {
      id: newId('Invitation'),
      organizationId: id,
      email: 'b@people.example',
      role: 'VIEWER',
      hash: slug,
      createdAt: noon,
      expiresAt: at(HOUR),
    },
  })
  await prisma.logo.create({
    data: { pageId: ids.StatusPage, organizationId: id, file: `${slug}.png`, content: new Uint8Array([1]) },
  })
  const session = { id: newId('Session'), userId: user.id, hash: slug, userAgent: '', createdAt: noon }
  await prisma.session.create({ data: { ...session, lastSeenAt: noon, confirmedAt: noon, expiresAt: at(HOUR) } })
  const browser = { id: newId('PushBrowser'), userId: user.id, sessionId: session.id, endpointHash: slug }
  await prisma.pushBrowser.create({ data: { ...browser, host: 'push.example', subscription: '', createdAt: noon } })
  const push = { id: slug, browserId: browser.id, organizationId: id, subjectId: ids.Incident }
  await prisma.pushDelivery.create({ data: { ...push, content: {}, dueAt: noon, createdAt: noon } })
  await prisma.dispatch.create({ data: { organizationId: id, seq: 0 } })
  await prisma.notificationPayload.create({ data: { organizationId: id, seq: 1, content: {}, createdAt: noon } })
  await prisma.uptimeDay.create({
    data: {
      subjectId: heartbeatId,
      organizationId: id,
      day: noon,
      up: 1,
      degraded: 0,
      down: 0,
      unknown: 0,
      maintenance: 0,
    },
  })
  const counted = { source: 'Uptime Kuma', since: noon, up: [1], down: [0], maintenance: [0], importedAt: noon }
  await prisma.importedHistory.create({ data: { serviceId: ids.Service, organizationId: id, ...counted } })
  const record = {
    source: 'Cachet',
    kind: 'INCIDENT' as const,
    recordId: '1',
    digest: '',
    version: 1,
    importedAt: noon,
  }
  await prisma.importedRecord.create({ data: { organizationId: id, objectId: ids.Incident ?? '', ...record } })
  await prisma.privateTargetPermission.create({ data: { id, organizationId: id, grantedAt: new Date() } })
  await prisma.heartbeatRun.create({
    data: { watchId: watchId(heartbeatId, ANYWHERE), runId: '', startedAt: noon },
  })
  await prisma.monitorGap.create({ data: { monitorId: heartbeatId, startedAt: noon, endedAt: at(1) } })
  await prisma.monitorHour.create({
    data: { monitorId: heartbeatId, hour: noon, up: 1, degraded: 0, down: 0, unknown: 0, latencies: [] },
  })
  await prisma.probeResult.createMany({
    data: Array.from({ length: 5001 }, (_, index) => ({
      monitorId: heartbeatId,
      at: at(index),
      region: 'r',
      outcome: 'UP' as const,
      message: '',
    })),
  })
  await prisma.incidentMonitor.create({
    data: { incidentId: ids.Incident, monitorId: heartbeatId, joinedAt: noon },
  })
  await prisma.checkoutStart.create({ data: { organizationId: id, tier: 'PRO', hour: noon } })
  await prisma.checkPlanInvoice.create({
    data: {
      id: `inv_${slug}`,
      organizationId: id,
      currency: 'BTC',
      email: 'a@b.example',
      createdAt: noon,
      expiresAt: noon,
    },
  })
  await prisma.paidSubscription.create({ data: { id: `sub_${slug}`, organizationId: id, state: {}, createdAt: noon } })
  await prisma.paymentEvent.create({
    data: {
      id: `evt_${slug}`,
      provider: 'STRIPE',
      type: 'x',
      createdAt: noon,
      receivedAt: noon,
      payload: '',
      organizationId: id,
      outcome: 'APPLIED',
    },
  })
  await prisma.idempotencyKey.create({
    data: { id: `idem_${slug}`, organizationId: id, hash: 'x', answer: {}, createdAt: noon },
  })
  await prisma.watch.updateMany({
    where: { monitorId: heartbeatId },
    data: { dueAt: at(HOUR), lastProbedAt: noon, lastKnownAt: noon },
  })
  return { token }
}

/** Returns the number of rows per table that refer to the organization or its objects in any column, without zeros. */
async function rowsOf(ids: readonly string[]): Promise<Record<string, number>> {
  const columns = await prisma.$queryRaw<{ table: string; column: string }[]>`
    SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
    WHERE table_schema = current_schema() AND data_type = 'text' AND column_name ~ '(^id|Id)$'`
  const counts: Record<string, number> = {}
  for (const { table, column } of columns) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM "${table}" WHERE "${column}" = ANY ($1)`,
      [ids],
    )
    const count = rows[0]?.count ?? 0
    if (count > 0) counts[`${table}.${column}`] = count
  }
  return counts
}

/**
 * Every table with a column that refers to an organization. A new one has to be filled here, which then proves that it is
 * erased.
 */
const tablesOfOrganizations = [
  ...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/^model (\w+) \{[^}]*?^ {2}organizationId /gm),
].map(([, name]) => name)

describe('deleting an organization', () => {
  test('hides it immediately from everyone but the operator, and ends its subscriptions', async () => {
    const org = await fill()
    const { token } = await fillTables(org)
    const before = await shown(org)
    expect(before).toMatchObject({
      visitor: { statusPage: { slug: org.slug }, nodes: [{ id: org.ids.Service }, { id: org.ids.Incident }, null] },
      key: { organization: { id: org.id } },
      documents: [200, 200, 200],
      host: org.id,
    })
    // Starts at the beginning of the log, so that each subscription delivers an event immediately.
    const following = `subscription { statusPageEvents(slug: "${org.slug}", after: "0") { kind } }`
    const sockets = [websocketClient(url), websocketClient(url, { apiKey: org.key })]
    const results = sockets.map((client) => client.iterate({ query: following }))
    for (const begun of results) expect((await begun.next()).done).toBe(false)
    const ends = results.map(async (rest) => {
      try {
        while (!(await rest.next()).done) {}
      } catch {
        return 'cut'
      }
      return 'ended'
    })
    const stream = await openEventStream(url, { query: following })
    const streamEnds = stream.text().catch(() => 'cut')
    const watches = await prisma.watch.findMany({ where: { monitor: { organizationId: org.id } } })
    const deliveries = await prisma.delivery.findMany({ where: { organizationId: org.id } })

    const answer = await post(url, {
      query: `mutation ($input: DeleteOrganizationInput!) { deleteOrganization(input: $input) {
        ... on DeleteOrganizationPayload { id deletionAt } ... on Error { code } } }`,
      key: org.key,
      variables: { input: { id: org.id, slug: org.slug } },
    })
    expect(answer.data?.['deleteOrganization']).toEqual({ id: org.id, deletionAt: at(7 * DAY).toISOString() })
    await Promise.all([...ends, streamEnds])
    await Promise.all(sockets.map(async (client) => client.dispose()))

    expect(await shown(org)).toEqual({
      visitor: { statusPage: null, nodes: [null, null, null] },
      operator: before.operator,
      key: null,
      documents: [404, 404, 404],
      host: null,
    })
    const refusedKey = await post(url, { query: '{ organization { id } }', key: org.key })
    expect(refusedKey.errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
    const asked = await post(url, {
      query: `{ organization(id: "${org.id}") { deletedAt deletionAt } }`,
      key: operatorToken,
    })
    expect(asked.data?.['organization']).toEqual({
      deletedAt: noon.toISOString(),
      deletionAt: at(7 * DAY).toISOString(),
    })

    // Background jobs no longer work for it.
    expect(watches.length).toBeGreaterThan(0)
    expect(
      await readWatches(
        pool,
        watches.map(({ id }) => id),
      ),
    ).toEqual([])
    expect(await prisma.watch.count({ where: { monitor: { organizationId: org.id }, dueAt: { not: null } } })).toBe(0)
    expect(
      await readDeliveries(
        pool,
        deliveries.map(({ id }) => id),
      ),
    ).toEqual([])
    expect(await findUndispatched(pool, [org.id])).toEqual([])
    const reception = { noteRefusal: () => Promise.reject(new Error('Nothing was refused.')) }
    const resultWriter = { record: () => Promise.reject(new Error('It is not to be recorded.')) }
    const parts = { pool, resultWriter, reception }
    await expect(
      recordSignal({ ...system(), ...parts }, token, { signal: { kind: 'success' }, runId: null, text: '' }),
    ).rejects.toThrow(NotFound)
    const seq = async () => (await prisma.organization.findUniqueOrThrow({ where: { id: org.id } })).lastSeq
    const stood = await seq()
    await reconcileWatches(system(DAY), MINUTE)
    await reconcileStaleness(system(DAY))
    expect(await runDueMaintenance(system(DAY))).toBeNull()
    const asks = { query: () => Promise.reject(new Error('No proof is to be looked for.')) }
    const request = () => Promise.reject(new Error('No proof is to be looked for.'))
    expect(await checkDueDomains(system(DAY), { dns: asks, outbound: { request } })).toBeNull()
    expect(await seq()).toBe(stood)
    expect(await prisma.watch.count({ where: { monitor: { organizationId: org.id }, dueAt: { not: null } } })).toBe(0)

    // A key that was valid a moment ago can no longer change anything; deleting again changes nothing either.
    await expect(remove(org)).rejects.toThrow(NotFound)
    expect(
      await deleteOrganization({ ...operator(HOUR), actor: { kind: 'operator', organizationId: org.id } }, org),
    ).toMatchObject({
      deletedAt: noon,
    })
    const taken = { name: 'Other', slug: org.slug, contactEmail: 'a@b.example' }
    const create = `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { ... on Error { code } } }`
    const refused = await post(url, { query: create, key: operatorToken, variables: { input: taken } })
    expect(refused.data?.['createOrganization']).toEqual({ code: 'CONFLICT' })

    // After the restore, it is unchanged.
    expect(await eraseDeleted(system(7 * DAY - 1))).toBe(false)
    const restored = await post(url, {
      query: `mutation { restoreOrganization(id: "${org.id}") { ... on Organization { id deletedAt } ... on Error { code } } }`,
      key: operatorToken,
    })
    expect(restored.data?.['restoreOrganization']).toEqual({ id: org.id, deletedAt: null })
    expect(await shown(org)).toEqual(before)
    const due = await prisma.watch.findMany({ where: { monitorId: org.heartbeatId } })
    expect(due.map(({ dueAt }) => dueAt && dueAt > noon)).toEqual([true])
    expect(await prisma.monitor.findUnique({ where: { id: org.ids.Monitor } })).toMatchObject({ pausedBy: 'OWNER' })
    await mutate(url, org.key, 'createService', 'Service', { name: 'Again' })
    expect(await prisma.delivery.findMany({ where: { organizationId: org.id, status: 'PENDING' } })).toEqual([])
    const kinds = await prisma.event.findMany({
      where: { organizationId: org.id, kind: { in: ['ORGANIZATION_DELETED', 'ORGANIZATION_RESTORED'] } },
      orderBy: { seq: 'asc' },
    })
    expect(kinds.map(({ kind, actorKind }) => [kind, actorKind])).toEqual([
      ['ORGANIZATION_DELETED', 'API_KEY'],
      ['ORGANIZATION_RESTORED', 'OPERATOR'],
    ])
  })

  test('erases all its data after seven days, in batches, and no other data', async () => {
    const [org, other] = [await fill(), await fill()]
    await fillTables(org)
    await fillTables(other)
    const idsOf = ({ id, ids, heartbeatId }: Filled) => [
      id,
      heartbeatId,
      ...Object.values(ids).filter((each) => each !== ''),
    ]
    const [before, others] = [await rowsOf(idsOf(org)), await rowsOf(idsOf(other))]
    expect(tablesOfOrganizations.length).toBeGreaterThan(15)
    for (const table of tablesOfOrganizations) expect(before).toHaveProperty([`${table}.organizationId`])
    await remove(org)
    await expect(restoreOrganization(operator(7 * DAY), org.id)).rejects.toThrow(Conflict)
    // If a worker dies in the middle, any worker continues after its lease.
    await prisma.organization.update({ where: { id: org.id }, data: { erasureDueAt: at(7 * DAY + HOUR) } })
    expect(await eraseDeleted(system(7 * DAY))).toBe(false)
    let turns = 0
    while (await eraseDeleted(system(7 * DAY + HOUR))) turns += 1
    expect(turns).toBe(2)
    expect(await rowsOf(idsOf(org))).toEqual({})
    expect(await rowsOf(idsOf(other))).toEqual(others)
    expect(await prisma.suppression.findUnique({ where: { id: `all-${org.slug}` } })).not.toBeNull()
    expect(await prisma.paymentEvent.findUnique({ where: { id: `evt_${org.slug}` } })).toMatchObject({
      organizationId: null,
    })
    await expect(restoreOrganization(operator(8 * DAY), org.id)).rejects.toThrow(NotFound)
    const again = await prisma.organization.create({
      data: { id: newId('Organization'), slug: org.slug, name: 'New', contactEmail: 'a@b.example', createdAt: noon },
    })
    expect(again.slug).toBe(org.slug)
  })

  test('requires an ADMIN key and the slug; restoring requires the operator', async () => {
    const [org, other] = [await fill(), await fill()]
    const { id, slug } = org
    await expect(deleteOrganization(ownerOf(other.id), { id, slug })).rejects.toThrow(NotFound)
    await expect(deleteOrganization(ownerOf(id, 'WRITE'), { id, slug })).rejects.toThrow(Forbidden)
    await expect(deleteOrganization(ownerOf(id), { id, slug: other.slug })).rejects.toThrow(Invalid)
    await expect(restoreOrganization(ownerOf(id), id)).rejects.toThrow(Forbidden)
    await expect(restoreOrganization(operator(), newId('Organization'))).rejects.toThrow(NotFound)
    expect(await restoreOrganization(operator(), id)).toMatchObject({ id, deletedAt: null })
    expect(await prisma.organization.count({ where: { id: { in: [id, other.id] }, deletedAt: null } })).toBe(2)
  })
})
