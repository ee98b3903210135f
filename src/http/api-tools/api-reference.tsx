import { Hono } from 'hono'
import type { oas31 } from 'zod-openapi'
import { root } from '../../core/process/paths.ts'
import { staticText } from '../assets/static-text.ts'
import type { Site } from '../page/layout.tsx'
import { pageHeaders, renderPageShell } from '../page/layout.tsx'
import { Operation } from './operation.tsx'
import { Members, schemaId } from './schema-members.tsx'

/** The style of the API reference; bundled as `api-reference.css`. */
export const referenceSheet = new URL('src/http/assets/api-reference.css', root)

const openApiHeaders = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** `/openapi.json`, and `/docs/reference`, which shows it. */
export function referenceRoutes(site: Site, openApi: () => oas31.OpenAPIObject): Hono {
  const app = new Hono()
  app.get(
    '/openapi.json',
    staticText(() => JSON.stringify(openApi()), openApiHeaders),
  )
  app.get(
    '/docs/reference',
    staticText(() => referencePage(site, openApi()), pageHeaders),
  )
  return app
}

function referencePage(site: Site, document: oas31.OpenAPIObject): string {
  const [before, after] = renderPageShell(site, {
    title: 'API reference · Allclear',
    description: 'Every REST path of Allclear, with its parameters and answers.',
    path: '/docs/reference',
    indexed: true,
    sheets: [site.assets.url('api-reference.css')],
  })
  return before + String(<Reference document={document} />) + after
}

/** The tag of pages for people, which are no API. */
const PAGES = 'Pages'

function Reference({ document }: { readonly document: oas31.OpenAPIObject }) {
  const { info, servers = [], components = {} } = document
  const schemas = Object.entries(components.schemas ?? {})
  const groups = groupsOf(document)
  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href="/docs">Docs</a> / API reference
      </nav>
      <h1>API reference</h1>
      {(info.description ?? '').split('\n\n').map((text) => (
        <p>{text}</p>
      ))}
      <p>
        <a href="/openapi.json">openapi.json</a> has the same for programs, and the pages for people besides. The guide{' '}
        <a href="/docs/rest">REST</a> explains errors and limits.
      </p>
      <nav aria-label="Contents">
        <ul class="contents">
          {[...groups.map(({ name }) => name), 'Objects'].map((name) => (
            <li>
              <a href={`#${idOf(name)}`}>{name}</a>
            </li>
          ))}
        </ul>
      </nav>
      {groups.map(({ name, description, operations }) => (
        <section id={idOf(name)}>
          <h2>{name}</h2>
          {description === undefined ? null : <p>{description}</p>}
          {operations.map((operation) => (
            <Operation {...operation} server={servers[0]?.url ?? ''} />
          ))}
        </section>
      ))}
      <section id="objects">
        <h2>Objects</h2>
        {schemas.map(([name, schema]) => (
          <section id={schemaId(name)}>
            <h3>{name}</h3>
            <Members schema={schema} label={`Members of ${name}`} />
          </section>
        ))}
      </section>
    </>
  )
}

const idOf = (name: string) => name.toLowerCase().replaceAll(' ', '-')

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Returns the operations by tag, in the order in which the document names the tags. */
function groupsOf({ tags = [], paths = {} }: oas31.OpenAPIObject) {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ method, path, operation }]
    }),
  )
  const named = new Map(tags.map(({ name, description }) => [name, description]))
  const used = operations.flatMap(({ operation }) => operation.tags ?? [])
  return [...new Set([...named.keys(), ...used])]
    .filter((name) => name !== PAGES && used.includes(name))
    .map((name) => ({
      name,
      description: named.get(name),
      operations: operations.filter(({ operation }) => operation.tags?.includes(name)),
    }))
}
