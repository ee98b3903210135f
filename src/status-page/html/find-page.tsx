import type { Context } from 'hono'
import { pagesNamed } from '../../account/page-guard.ts'
import { slugText } from '../../account/page-settings.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { ErrorContent } from '../../http/error-page.tsx'
import type { Site } from '../../http/layout.tsx'
import { respondWithPage } from '../../http/layout.tsx'

/**
 * Answers `/status`: with the only page of this service, with the page named in `?page=`, or with a form that asks for its name.
 */
export async function findPage(c: Context, site: Site, db: PrismaClient): Promise<Response> {
  const named = slugIn(c.req.query('page') ?? '')
  if (named !== '') return c.redirect(`/status/${named}`, 303)
  const [only, ...others] = await db.organization.findMany({
    where: { deletedAt: null },
    select: { id: true },
    take: 2,
  })
  if (only && others.length === 0) {
    // A private page is not told of.
    const [first, ...more] = await pagesNamed({ db }, { organizationId: only.id })
    if (first?.kind === 'PUBLIC' && more.length === 0) return c.redirect(`/status/${first.slug}`, 302)
  }
  const page = {
    title: 'Find a status page · Allclear',
    description: 'Opens a status page by its name.',
    path: '/status',
    indexed: true,
  }
  const content = (
    <>
      <h1>Find a status page</h1>
      <FindForm value="" />
      <PublishOne />
    </>
  )
  return respondWithPage(c, site, page, content)
}

/** Answers for a name that no page has: with the page of the same name as slugs are written, or with the form. */
export function pageNotFound(c: Context, site: Site, name: string): Response {
  const slug = slugIn(name)
  if (slug !== '' && slug !== name) return c.redirect(`/status/${slug}`, 302)
  const title = 'No status page has this address'
  const content = (
    <ErrorContent status={404} title={title}>
      <FindForm value={name.slice(0, MAX_SHOWN_LENGTH)} />
      <PublishOne />
    </ErrorContent>
  )
  return respondWithPage(
    c,
    site,
    { title: `${title} · Allclear`, description: title, path: null, indexed: false },
    content,
    404,
  )
}

/** Returns what was typed as a slug: of a whole address its page's name; empty: it cannot be one. */
export function slugIn(text: string): string {
  const [, name = text] = /\/status\/([^/?#]+)/.exec(text) ?? []
  const slug = name
    .trim()
    .toLowerCase()
    .replace(/[\s_.]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return slugText.safeParse(slug).data ?? ''
}

const MAX_SHOWN_LENGTH = 100

function FindForm({ value }: { readonly value: string }) {
  return (
    <form class="check" action="/status" method="get">
      <label for="page">Name in the page’s address</label>
      <div class="field">
        <input
          id="page"
          name="page"
          type="text"
          value={value}
          required
          maxlength={2048}
          placeholder="acme"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          enterkeyhint="go"
        />
        <button type="submit">Open</button>
      </div>
    </form>
  )
}

function PublishOne() {
  return (
    <p>
      Need a page of your own? <a href="/console">Publish one</a>.
    </p>
  )
}
