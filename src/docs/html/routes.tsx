import { once } from 'node:events'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { root } from '../../core/process/paths.ts'
import { startWorker } from '../../core/thread/worker-thread.ts'
import { retryingOnce, staticText } from '../../http/assets/static-text.ts'
import type { Site } from '../../http/page/layout.tsx'
import { pageHeaders, renderPageShell, respondWithPage } from '../../http/page/layout.tsx'
import { sections } from '../contents.ts'
import type { DocsWorkerData, RenderedDocs } from '../docs-worker.ts'
import type { Guide } from '../guide.ts'
import type { Hit } from '../search.ts'
import { openSearch } from '../search.ts'

/** The style sheet of the guides; bundled as `docs.css`. */
export const docsSheet = new URL('src/docs/docs.css', root)

/** The rendered guides. */
interface Docs {
  /** In reading order. */
  readonly guides: ReadonlyMap<string, Guide>
  readonly images: RenderedDocs['images']
  search(query: string): Hit[]
}

/**
 * Creates the routes of the guides: `/docs`, `/docs/{guide}`, their images, and the search with its words in `?q=`. A
 * thread renders the guides on first use; pages stay compressed in memory.
 */
export function docsPages(site: Site): Hono {
  const docs = retryingOnce(loadDocs)
  const pages = new Map<string, ReturnType<typeof staticText>>()
  const sendPage = (c: Context, path: string, render: () => string) => {
    const send = pages.get(path) ?? staticText(render, pageHeaders)
    pages.set(path, send)
    return send(c)
  }

  const app = new Hono()
  app.get('/docs', async (c) => {
    const { guides } = await docs()
    return sendPage(c, '/docs', () => renderPage(site, indexProps(site), <Index guides={guides} />))
  })
  app.get('/docs/', (c) => c.redirect('/docs', 301))
  app.get('/docs/search', async (c) => {
    const { guides, search } = await docs()
    const query = c.req.query('q')?.trim() ?? ''
    const content = query === '' ? <Index guides={guides} /> : <Results query={query} hits={search(query)} />
    return respondWithPage(c, site, searchProps(site), content)
  })
  app.get('/docs/images/:file', async (c) => {
    const image = (await docs()).images.get(c.req.param('file'))
    if (image === undefined) return c.notFound()
    return c.body(image, 200, {
      'content-type': 'image/png',
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
    })
  })
  app.get('/docs/:guide', async (c) => {
    const { guides } = await docs()
    const guide = guides.get(c.req.param('guide'))
    if (guide === undefined) return c.notFound()
    return sendPage(c, guide.slug, () =>
      renderPage(site, guideProps(site, guides, guide), <Article guides={guides} guide={guide} />, site.baseUrl),
    )
  })
  return app
}

async function loadDocs(): Promise<Docs> {
  const workerData: DocsWorkerData = { root: root.href }
  const [rendered]: RenderedDocs[] = await once(startWorker('docs/docs-worker', { workerData }), 'message')
  if (rendered === undefined) throw new Error('The worker thread returned no guides.')
  const { guides, images, index } = rendered
  return { guides: new Map(guides.map((guide) => [guide.slug, guide])), images, search: openSearch(index) }
}

/** The address of the service as the guides' files contain it. */
const WRITTEN_ADDRESS = 'http://localhost:4000'

/** Renders a page with this service's own address in its examples. */
function renderPage(
  site: Site,
  props: Parameters<typeof renderPageShell>[1],
  content: Child,
  baseUrl = WRITTEN_ADDRESS,
): string {
  const [before, after] = renderPageShell(site, props)
  const websocket = (url: string) => url.replace(/^http/, 'ws')
  return (before + String(content) + after)
    .replaceAll(WRITTEN_ADDRESS, baseUrl)
    .replaceAll(websocket(WRITTEN_ADDRESS), websocket(baseUrl))
}

const sheetsOf = ({ assets }: Site) => [assets.url('docs.css')]

const indexProps = (site: Site) => ({
  title: 'Documentation · Allclear',
  description: 'How to run status pages, monitor services, check DNS blacklists and use the API.',
  path: '/docs',
  indexed: true,
  sheets: sheetsOf(site),
})

const searchProps = (site: Site) => ({
  ...indexProps(site),
  title: 'Search · Allclear documentation',
  path: null,
  indexed: false,
})

const guideProps = (site: Site, guides: Docs['guides'], { slug, title, description }: Guide) => ({
  title: `${title} · Allclear documentation`,
  description,
  path: `/docs/${slug}`,
  indexed: true,
  sheets: sheetsOf(site),
  aside: <Menu guides={guides} current={slug} />,
})

function SearchForm({ query = '' }: { readonly query?: string }) {
  return (
    <search>
      <form class="search" action="/docs/search" method="get">
        <label for="q" class="hidden">
          Search the documentation
        </label>
        <input id="q" name="q" type="search" value={query} maxlength={100} placeholder="Search the docs" required />
        <button type="submit">Search</button>
      </form>
    </search>
  )
}

/** Further menu entries of a section. */
const others: Readonly<
  Record<string, readonly { readonly path: string; readonly title: string; readonly description: string }[]>
> = {
  API: [
    {
      path: '/docs/reference',
      title: 'API reference',
      description: 'Every REST path with its parameters and answers.',
    },
    { path: '/graphql', title: 'GraphiQL', description: 'The GraphQL schema, interactive.' },
  ],
}

const firstSentence = (text: string) => /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text

/** Returns the sections with their entries. */
function entriesOf(guides: Docs['guides']) {
  return sections.map(({ title, slugs }) => ({
    title,
    entries: [
      ...slugs.flatMap((slug) => {
        const guide = guides.get(slug)
        return guide === undefined
          ? []
          : [{ path: `/docs/${slug}`, title: guide.title, description: firstSentence(guide.description) }]
      }),
      ...(others[title] ?? []),
    ],
  }))
}

function Menu({ guides, current }: { readonly guides: Docs['guides']; readonly current: string }) {
  return (
    <div class="menu">
      <SearchForm />
      <nav aria-label="Documentation">
        {entriesOf(guides).map(({ title, entries }) => (
          <>
            <p>{title}</p>
            <ul>
              {entries.map((entry) => (
                <li>
                  <a href={entry.path} aria-current={entry.path === `/docs/${current}` ? 'page' : undefined}>
                    {entry.title}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ))}
      </nav>
    </div>
  )
}

function Index({ guides }: { readonly guides: Docs['guides'] }) {
  return (
    <div class="index">
      <h1>Documentation</h1>
      <p class="lead">
        How to publish a status page, monitor what it shows, check DNS blacklists, and run the service. The REST paths
        are described in <a href="/openapi.json">OpenAPI</a>.
      </p>
      <SearchForm />
      <div class="groups">
        {entriesOf(guides).map(({ title, entries }) => (
          <section>
            <h2>{title}</h2>
            <ul>
              {entries.map((entry) => (
                <li>
                  <a href={entry.path}>{entry.title}</a>
                  <p>{entry.description}</p>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </div>
  )
}

function Results({ query, hits }: { readonly query: string; readonly hits: readonly Hit[] }) {
  return (
    <div class="index">
      <p class="crumbs">
        <a href="/docs">Docs</a>
      </p>
      <h1>Search</h1>
      <SearchForm query={query} />
      <p class="count" role="status">
        {hits.length === 0
          ? 'Nothing found. Try fewer or other words.'
          : `${hits.length} ${hits.length === 1 ? 'result' : 'results'}`}
      </p>
      <ul class="hits">
        {hits.map(({ path, title, heading, excerpt }) => (
          <li>
            <a href={path}>{heading === '' ? title : `${title}: ${heading}`}</a>
            <p>{excerpt}</p>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Article({ guides, guide }: { readonly guides: Docs['guides']; readonly guide: Guide }) {
  const all = [...guides.values()]
  const place = all.indexOf(guide)
  const [previous, next] = [all[place - 1], all[place + 1]]
  const section = sections.find(({ slugs }) => slugs.includes(guide.slug))
  return (
    <>
      <article class="guide">
        <p class="crumbs">
          <a href="/docs">Docs</a> <span aria-hidden="true">/</span> {section?.title}
        </p>
        <h1>{guide.title}</h1>
        {raw(guide.html)}
        <nav class="turn" aria-label="Previous and next guide">
          {previous === undefined ? null : (
            <a rel="prev" href={`/docs/${previous.slug}`}>
              <span>Previous</span> {previous.title}
            </a>
          )}
          {next === undefined ? null : (
            <a rel="next" href={`/docs/${next.slug}`}>
              <span>Next</span> {next.title}
            </a>
          )}
        </nav>
      </article>
      {guide.headings.length < 2 ? null : (
        <nav class="toc" aria-labelledby="toc">
          <p id="toc">On this page</p>
          <ul>
            {guide.headings.map(({ id, text, level }) => (
              <li class={level === 3 ? 'deep' : undefined}>
                <a href={`#${id}`}>{text}</a>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </>
  )
}
