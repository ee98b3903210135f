import { ask, type HostileCase, mutate, type Target } from './case.ts'
import { asMember, form } from './console.ts'
import { mutation } from './inputs.ts'
import { messagesOf } from './pages.ts'

const unicode = '\u{1F4A9}\u202E\u0000'.repeat(12_000)

/** The input for moving a service between two of the incidents with five hundred updates. */
const move = ({ serviceId, incidentIds }: Target, given: object = {}) => ({
  ...{ serviceId, fromId: incidentIds[0], intoId: incidentIds[1] },
  ...given,
})

const times = ['0001-01-01T00:00:00Z', '-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z', '2026-02-30T25:61:61Z']

/** A resolved incident, whose post-mortem can be published. */
async function resolvedIncident(target: Target): Promise<string> {
  const input = { title: 'Over', status: 'RESOLVED', impact: 'NONE', message: `Over ${Math.random()}` }
  return (await mutate<{ id: string }>(target, 'createIncident', input, '... on Incident { id }')).id
}

/** Services that move between incidents, and post-mortems with texts that are hard to render. */
export const incidentWork: readonly HostileCase[] = [
  ...times.map((at) =>
    mutation(`a service moved as of ${at}`, 'moveIncidentService', (target) => move(target, { at })),
  ),
  mutation('a service moved with a message of 100 kB', 'moveIncidentService', (target) =>
    move(target, { message: unicode, translations: [{ language: 'DE', message: unicode }] }),
  ),
  mutation('a service moved with a message that is hard to render', 'moveIncidentService', (target) =>
    move(target, { intoId: target.incidentIds[0], message: '*a_['.repeat(2500) }),
  ),
  mutation('an unknown service, moved between unknown incidents', 'moveIncidentService', () => ({
    ...{ serviceId: `svc_${unicode}`, fromId: `inc_${unicode}`, intoId: '' },
  })),
  {
    name: 'a service that moves between drafts of a hundred updates, there and back',
    statuses: [200],
    async send(target) {
      const services = [{ serviceId: target.serviceId, status: 'MAJOR_OUTAGE' }]
      const draft = { status: 'INVESTIGATING', impact: 'MINOR', visibility: 'DRAFT' }
      const create = async (title: string, input: object) =>
        (
          await mutate<{ id: string }>(
            target,
            'createIncident',
            { ...draft, title, ...input },
            '... on Incident { id }',
          )
        ).id
      const ids = [await create('One', { services, message: 'a' }), await create('Two', { message: 'a' })]
      for (let n = 0; n < 100; n++) {
        const update = { incidentId: ids[0], status: 'IDENTIFIED', message: `More ${n}`, services }
        await mutate(target, 'postIncidentUpdate', update, '__typename')
      }
      for (let n = 0; n < 10; n++) {
        const [fromId, intoId] = n % 2 === 0 ? ids : ids.toReversed()
        await mutate(target, 'moveIncidentService', { serviceId: target.serviceId, fromId, intoId }, '__typename')
      }
      for (const id of ids) await mutate(target, 'deleteIncident', { id }, '__typename').catch(() => null)
      return 200
    },
  },
  asMember(
    'a service moved at an invalid time',
    [404, 422],
    async ({ incidentIds }) => `incidents/${incidentIds[0]}/move`,
    form(`serviceId=${'x'.repeat(50_000)}&intoId=%00&at=${'9'.repeat(50_000)}&message=${'%2A'.repeat(9000)}`),
  ),
  ...messagesOf('post-mortem').map(
    ([name, message]): HostileCase => ({
      name: `a published post-mortem: ${name}`,
      statuses: [200],
      async send(target) {
        const incidentId = await resolvedIncident(target)
        const translations = [{ language: 'DE', message: `${message}${Math.random()}` }]
        await mutate(target, 'savePostmortem', { incidentId, message, translations }, '__typename')
        await mutate(target, 'publishPostmortem', { incidentId, notifySubscribers: false }, '__typename')
        return ask(target.url, `/status/${target.slug}/incidents/${incidentId}`, {})
      },
    }),
  ),
  asMember(
    'a post-mortem drafted from five hundred updates',
    [200],
    async ({ incidentIds }) => `incidents/${incidentIds[0]}/postmortem`,
    form('draft=true&message='),
  ),
  asMember(
    'a post-mortem of 1 MB, previewed',
    [422],
    async ({ incidentIds }) => `incidents/${incidentIds[0]}/postmortem`,
    form(`preview=true&message=${'*a_'.repeat(330_000)}`),
  ),
  ...['approve', 'request-review', 'cancel-review'].map((name) =>
    asMember(
      `a review of a post-mortem that does not exist: ${name}`,
      [303, 404, 422],
      async ({ incidentIds }) => `incidents/${incidentIds[2]}/postmortem/${name}`,
      form(`version=${'9'.repeat(100_000)}`),
    ),
  ),
]
