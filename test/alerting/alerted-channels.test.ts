import { expect, test } from 'vitest'
import { createOrganization } from '../../src/account/organization/organization.ts'
import { MAX_ALERTED, readAlertedChannels } from '../../src/alerting/alerted-channels.ts'
import { newId } from '../../src/core/id.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()

test('each incident has its first channels, also if several are read at once', async () => {
  const operator = testContext(prisma, { actor: { kind: 'operator' } })
  const input = { name: 'A', slug: 'alerted', contactEmail: 'a@b.example' }
  const { organization } = await createOrganization(operator, input)
  const organizationId = organization.id
  const channels = Array.from({ length: MAX_ALERTED + 1 }, (_, index) => ({
    ...{ id: newId('AlertChannel'), organizationId, name: `Channel ${index}`, kind: 'WEBHOOK' as const },
    ...{ address: '', label: '', destination: '', sinceSeq: 0, createdAt: noon },
  }))
  await prisma.alertChannel.createMany({ data: channels })
  const incidentIds: string[] = []
  for (const name of ['one', 'two']) {
    const incident = {
      ...{ id: newId('Incident'), organizationId, title: name, status: 'INVESTIGATING' as const },
      ...{ impact: 'MINOR' as const, startedAt: noon, createdAt: noon },
    }
    const monitor = {
      ...{ id: newId('Monitor'), organizationId, name, kind: 'TCP' as const, options: {}, intervalSeconds: 60 },
      ...{ timeoutMs: 1000, failureThreshold: 1, recoveryThreshold: 1, stateSince: noon, createdAt: noon },
    }
    const alert = {
      ...{ id: newId('Alert'), organizationId, subjectId: monitor.id, subjectName: name, change: 'DOWN' as const },
      ...{ state: 'DOWN' as const, since: noon, message: '', openedAt: noon },
    }
    await prisma.incident.create({ data: incident })
    await prisma.monitor.create({ data: monitor })
    await prisma.alert.create({ data: alert })
    await prisma.incidentMonitor.create({ data: { incidentId: incident.id, monitorId: monitor.id, joinedAt: noon } })
    const notifiedAt = (index: number) => new Date(noon.getTime() + index * 1000)
    await prisma.alertRecipient.createMany({
      data: channels.map(({ id }, index) => ({
        ...{ alertId: alert.id, channelId: id, notifiedAt: notifiedAt(index), count: 1 },
      })),
    })
    incidentIds.push(incident.id)
  }
  const found = await readAlertedChannels(prisma, incidentIds)
  for (const id of incidentIds) {
    const names = found.filter(({ incidentId }) => incidentId === id).map(({ name }) => name)
    expect(names).toEqual(channels.slice(0, MAX_ALERTED).map(({ name }) => name))
  }
})
