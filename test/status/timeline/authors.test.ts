import { expect, test } from 'vitest'
import { transaction } from '../../../src/core/context.ts'
import { insertMembership } from '../../../src/people/membership.ts'
import { startSession } from '../../../src/people/session.ts'
import { insertUser } from '../../../src/people/user.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { readAuthors } from '../../../src/status/timeline/authors.ts'
import { testDatabase } from '../../support/database.ts'
import { tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const newTenant = tenantsOf(prisma)

test('an update has the author who posted it, whoever edits it', async () => {
  const { id: organizationId, ctx } = await newTenant()
  const user = await transaction(ctx, async (tx) => {
    const inserted = await insertUser(tx, 'MAILED_SIGN_UP_LINK', {
      email: 'ada@example.com',
      name: 'Ada',
      passwordHash: null,
    })
    await insertMembership(tx, { organizationId, userId: inserted.id, role: 'EDITOR' }, 'Ada')
    await startSession(tx, inserted.id, 'a browser of the tests')
    return inserted
  })
  const { id: sessionId } = await prisma.session.findFirstOrThrow({ where: { userId: user.id } })
  const memberships = new Map([[organizationId, { role: 'EDITOR', checkPlan: 'FREE' } as const]])
  const session = { sessionId, isOperator: false, confirmedAt: ctx.now(), memberships, organizationId }
  const ada = { ...ctx, actor: { kind: 'user', userId: user.id, ...session } as const }
  const words = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'So it is.' }
  const incident = await createIncident(ada, words)
  const second = await postIncidentUpdate(ctx, { incidentId: incident.id, status: 'MONITORING', message: 'Better.' })
  const [first] = await prisma.incidentUpdate.findMany({
    where: { incidentId: incident.id },
    orderBy: { createdAt: 'asc' },
  })
  const firstId = first?.id ?? ''
  await editIncidentUpdate(ctx, { id: firstId, message: 'So it was.' })
  const authors = await readAuthors(prisma, organizationId, [incident.id], [firstId, second.id])
  expect(authors.get(firstId)).toEqual({ kind: 'USER', name: 'Ada' })
  expect(authors.get(second.id)).toMatchObject({ kind: 'API_KEY' })
  const other = await newTenant()
  expect((await readAuthors(prisma, other.id, [incident.id], [firstId])).size).toBe(0)
  expect((await readAuthors(prisma, organizationId, [], [])).size).toBe(0)
})
