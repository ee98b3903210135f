import { z } from 'zod'
import { described, named } from '../../core/described.ts'
import { identityOf } from './identity.ts'
import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, line, nothing } from './incoming.ts'

/** A path to a value of a body: names and indexes, such as `alert.tags[0].name`. */
const path = z
  .string()
  .max(200, 'must be at most 200 characters long')
  .regex(/^(\$\.?)?[\w-]+(\.[\w-]+|\[\d{1,4}\])*$/, 'must be a path, such as alert.title or tags[0]')

/** The paths to the parts of an alert in a body. */
export const genericPaths = named(
  z.object({
    title: described(path.nullish(), { description: 'The title.' }),
    text: described(path.nullish(), { description: 'A longer text.' }),
    key: described(path.nullish(), { description: 'The key that identifies an alert. Default: the title.' }),
    state: described(path.nullish(), { description: 'Whether the alert fires or is resolved.' }),
    severity: described(path.nullish(), { description: 'The severity: critical, error, warning or info.' }),
    link: described(path.nullish(), { description: 'A link with details.' }),
    labels: described(path.nullish(), { description: 'An object of labels.' }),
    resolvedValues: described(z.array(z.string().max(100)).max(20).nullish(), {
      description: 'The values of the state that mean resolved. Default: resolved, ok, up and similar.',
    }),
  }),
  {
    name: 'IntegrationPaths',
    about:
      'The paths to the parts of an alert in a JSON body, such as alert.title or tags[0]. Default: the fields with these names.',
  },
)

export type GenericPaths = z.infer<typeof genericPaths>

const RESOLVED = ['resolved', 'ok', 'up', 'closed', 'recovered', 'false', '0', 'inactive', 'normal']
const names = { title: 'title', text: 'text', key: 'key', state: 'state', severity: 'severity', link: 'link' } as const

/** Reads any JSON by paths. A part without a path is read from the field with its name. */
export function readGeneric(body: unknown, paths: GenericPaths): Reading {
  const at = (name: keyof typeof names) => valueAt(body, paths[name] ?? names[name])
  const state = line(at('state'), 100).toLowerCase()
  const over = (paths.resolvedValues ?? RESOLVED).map((each) => each.toLowerCase())
  const title = line(at('title'), 200)
  if (title === '' && line(at('key'), 200) === '') return nothing('This has neither a title nor a key.')
  const labels = fieldsOf(paths.labels == null ? fieldsOf(body)['labels'] : valueAt(body, paths.labels))
  return alertsOf([
    {
      key: identityOf(at('key')) || at('title'),
      state: over.includes(state) ? 'RESOLVED' : 'FIRING',
      title,
      text: at('text'),
      severity: at('severity'),
      labels,
      link: at('link'),
    },
  ])
}

/** Returns the own value at a path, or undefined. */
function valueAt(body: unknown, text: string): unknown {
  const steps = text.replace(/^\$\.?/, '').match(/[\w-]+/g) ?? []
  let value: unknown = body
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}
