import type { Client } from '../client/index.ts'
import { ownValue } from '../core/own-value.ts'
import { type Command, EXIT, Failure, type Input, type Terminal, textOf, textsOf } from './command.ts'
import { jsonText, printable, wordsOf } from './paint.ts'

interface Incident {
  readonly id: string
  readonly title: string
  readonly status: string
}

/** The failure of a mutation. */
interface Refused {
  readonly code: string
  readonly message: string
}

const RESULT = 'id title status'
const REFUSED = '... on Error { code message }'
const OPEN = `mutation Open($input: CreateIncidentInput!) {
  done: createIncident(input: $input) { ... on Incident { ${RESULT} } ${REFUSED} }
}`
const POST = `mutation Post($input: PostIncidentUpdateInput!) {
  done: postIncidentUpdate(input: $input) { ... on IncidentUpdate { status } ${REFUSED} }
}`

/** Opens, updates and resolves incidents. */
export const incident: Command = {
  usage: 'open | update [ID] | resolve [ID]',
  summary: 'Report an incident, post an update, or resolve it',
  details: `Without --message, your editor ($VISUAL, $EDITOR) opens. Without an ID, it uses the one open incident.
Give services by name or id, repeating the option for several: --service "API=MAJOR_OUTAGE".`,
  examples: [
    'allclear incident open --impact major --service "API=PARTIAL_OUTAGE"',
    'allclear incident open --template Outage',
    'allclear incident update --status identified -m "A disk is full."',
    'allclear incident resolve -m "The disk has room again."',
  ],
  exitCodes: { 0: 'published' },
  words: ['open', 'update', 'resolve'],
  values: {
    status: ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'],
    impact: ['NONE', 'MINOR', 'MAJOR', 'CRITICAL'],
  },
  options: {
    title: { type: 'string' },
    message: { type: 'string', short: 'm' },
    status: { type: 'string' },
    impact: { type: 'string' },
    service: { type: 'string', multiple: true },
    template: { type: 'string' },
    quiet: { type: 'boolean' },
  },
  describe: {
    title: 'the title of a new incident',
    message: 'the message to subscribers and visitors, in Markdown',
    status: 'INVESTIGATING, IDENTIFIED, MONITORING or RESOLVED',
    impact: 'the impact of a new incident: NONE, MINOR (default), MAJOR or CRITICAL',
    service: 'an affected service and its status, NAME=STATUS',
    template: 'the name of a template to start from; other options override its values',
    quiet: 'do not notify subscribers',
  },
  async run(input, terminal, service) {
    const { client } = await service()
    const [action, id] = input.words
    const run = ownValue({ open, update, resolve: update }, action ?? '')
    if (run === undefined) throw new Failure('Give an action: allclear incident open, update or resolve.')
    const done = await run({ action: action ?? '', id, input, terminal, client })
    if (input.json) terminal.result(jsonText(done, 2))
    else terminal.result(`${printable(done.title)}: ${wordsOf(done.status)}  ${done.id}`)
    return EXIT.ok
  },
}

interface Request {
  readonly action: string
  readonly id: string | undefined
  readonly input: Input
  readonly terminal: Terminal
  readonly client: Client
}

async function open({ input, terminal, client }: Request): Promise<Incident> {
  const services = await affected(input, client)
  const name = textOf(input, 'template')
  if (name !== undefined) return openBy(name, services, { input, client })
  const written = await compose(input, terminal, {
    title: textOf(input, 'title') ?? '',
    hint: 'Write the title in the first line, then an empty line and the message. Lines that begin with # are ignored.',
  })
  const { done } = await client.request<{ done: Incident | Refused }>(OPEN, {
    input: {
      ...written,
      status: constant(textOf(input, 'status') ?? 'INVESTIGATING'),
      impact: constant(textOf(input, 'impact') ?? 'MINOR'),
      services,
      notifySubscribers: input.options['quiet'] !== true,
    },
  })
  return succeeded(done)
}

/** A filled-in incident template. */
interface Template {
  readonly name: string
  readonly status: string | null
  readonly impact: string | null
  readonly notifySubscribers: boolean
  readonly services: readonly { readonly serviceId: string; readonly status: string }[]
  readonly filled: {
    readonly title: string
    readonly message: string
    readonly translations: readonly object[]
    readonly missing: readonly string[]
  } | null
}

const TEMPLATES = `query Templates($serviceIds: [ID!]) {
  organization { templates(kind: INCIDENT) {
    name status impact notifySubscribers services { serviceId status }
    filled(serviceIds: $serviceIds) {
      title message translations { language title message } missing
    }
  } }
}`

/** Opens an incident from a template. */
async function openBy(
  name: string,
  services: readonly { readonly serviceId: string; readonly status: string }[],
  { input, client }: Pick<Request, 'input' | 'client'>,
): Promise<Incident> {
  type Answer = { readonly organization: { readonly templates: readonly Template[] } }
  const serviceIds = services.length === 0 ? null : services.map(({ serviceId }) => serviceId)
  const { templates } = (await client.request<Answer>(TEMPLATES, { serviceIds })).organization
  const template = templates.find((each) => each.name.toLowerCase() === name.toLowerCase())
  if (template === undefined) {
    const known = templates.map((each) => `  ${printable(each.name)}`).join('\n')
    throw new Failure(`There is no incident template “${name}”.${known === '' ? '' : ` Templates:\n${known}`}`)
  }
  if (template.filled === null) throw new Failure('One of the services does not exist.')
  const { title, message, translations, missing } = template.filled
  const given = { title: textOf(input, 'title'), message: textOf(input, 'message') }
  if (given.message === undefined && missing.length > 0) {
    throw new Failure(`The template has no value for {{${missing.join('}}, {{')}}}. Add --service or --message.`)
  }
  const { done } = await client.request<{ done: Incident | Refused }>(OPEN, {
    input: {
      title: given.title ?? title,
      message: given.message ?? message,
      translations: given.title === undefined && given.message === undefined ? translations : [],
      status: constant(textOf(input, 'status') ?? template.status ?? 'INVESTIGATING'),
      impact: constant(textOf(input, 'impact') ?? template.impact ?? 'MINOR'),
      services: services.length === 0 ? template.services : services,
      notifySubscribers: template.notifySubscribers && input.options['quiet'] !== true,
    },
  })
  return succeeded(done)
}

async function update({ action, id, input, terminal, client }: Request): Promise<Incident> {
  const found = await findIncident(client, id)
  const services = await affected(input, client)
  const { message } = await compose(input, terminal, {
    hint: `Write an update of “${found.title}”. Lines that begin with # are ignored.`,
  })
  const status = action === 'resolve' ? 'RESOLVED' : constant(textOf(input, 'status') ?? found.status)
  const { done } = await client.request<{ done: Pick<Incident, 'status'> | Refused }>(POST, {
    input: {
      ...{ incidentId: found.id, status, message },
      ...(services.length > 0 && { services }),
      notifySubscribers: input.options['quiet'] !== true,
    },
  })
  return { ...found, ...succeeded(done) }
}

/** Returns the incident with an id. Without an id, returns the only open incident. @throws Failure if there is no such incident. */
async function findIncident(client: Client, id: string | undefined): Promise<Incident> {
  if (id !== undefined) {
    const query = `query Find($id: ID!) { node(id: $id) { ... on Incident { ${RESULT} } } }`
    const { node } = await client.request<{ node: Partial<Incident> | null }>(query, { id })
    if (node?.id === undefined) throw new Failure(`There is no incident ${id}.`)
    return node as Incident
  }
  const query = `query Open { organization { incidents(first: 20, filter: { open: true }) { nodes { ${RESULT} } } } }`
  type Answer = { readonly organization: { readonly incidents: { readonly nodes: readonly Incident[] } } }
  const { nodes } = (await client.request<Answer>(query)).organization.incidents
  const [only, another] = nodes
  if (only === undefined) throw new Failure('No incident is open. Give the id of one.')
  if (another === undefined) return only
  const list = nodes.map((each) => `  ${each.id}  ${printable(each.title)}`).join('\n')
  throw new Failure(`Several incidents are open. Give the id of one:\n${list}`)
}

/** Resolves the `--service` options to ids and statuses. */
async function affected(input: Input, client: Client): Promise<{ serviceId: string; status: string }[]> {
  const named = textsOf(input, 'service').map((text) => {
    const [, name, status] = /^(.+)=([A-Za-z_ ]+)$/.exec(text) ?? []
    if (name === undefined || status === undefined) {
      throw new Failure(`--service ${text}: use NAME=STATUS, such as "API=MAJOR_OUTAGE".`)
    }
    return { name, status: constant(status) }
  })
  if (named.length === 0) return []
  const query =
    'query Services($text: String!) { organization { services(first: 100, filter: { text: $text }) { nodes { id name } } } }'
  return Promise.all(
    named.map(async ({ name, status }) => {
      type Answer = {
        readonly organization: { readonly services: { readonly nodes: readonly { id: string; name: string }[] } }
      }
      const { nodes } = (await client.request<Answer>(query, { text: name })).organization.services
      const exact = nodes.filter((each) => each.name.toLowerCase() === name.toLowerCase())
      if (exact.length > 1) throw new Failure(`Several services are called “${name}”. Give the id of one.`)
      // Otherwise treats the name as an id, which the service validates.
      return { serviceId: exact[0]?.id ?? name, status }
    }),
  )
}

/** Takes the texts from the options, or opens an editor for them. */
async function compose(
  input: Input,
  terminal: Terminal,
  { title, hint }: { readonly title?: string; readonly hint: string },
): Promise<{ title?: string; message: string }> {
  const given = textOf(input, 'message')
  if (given !== undefined && title !== '') return { ...(title && { title }), message: given }
  if (given !== undefined) throw new Failure('A title is required too: --title "Payments fail"')
  const edited = await terminal.edit(`${title === undefined ? '' : `${title}\n\n`}\n# ${hint}\n`)
  const text = edited.replace(/^#.*$\n?/gm, '').trim()
  const [first = '', ...rest] = text.split('\n')
  const written = title === undefined ? { message: text } : { title: first.trim(), message: rest.join('\n').trim() }
  if (Object.values(written).includes('')) throw new Failure('The text is incomplete, so nothing was sent.')
  return written
}

const constant = (text: string) =>
  text
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_')

function succeeded<Done extends object>(done: Done | Refused): Done {
  if ('code' in done) throw new Failure(done.message)
  return done
}
