import type { Context } from 'hono'
import { onlyOrganizationId } from '../../account/organization/organization-queries.ts'
import { pagesNamed } from '../../account/page/page-guard.ts'
import { slugText } from '../../account/page/page-settings.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { ErrorContent } from '../../http/page/error-page.tsx'
import type { Site } from '../../http/page/layout.tsx'
import { respondWithPage } from '../../http/page/layout.tsx'
import { respondInOwnersFrame } from '../../http/page/owner-frame.tsx'
import type { Catalogue } from '../../language/catalogue.ts'
import { languages, wordsOf } from '../../language/catalogue.ts'
import { preferredLanguage } from '../../language/choice.ts'

/**
 * Answers `/status`: with the only page of this service, with the page named in `?page=`, or with a form for its name.
 */
export async function findPage(c: Context, site: Site, db: PrismaClient): Promise<Response> {
  const named = slugIn(c.req.query('page') ?? '')
  if (named !== '') return c.redirect(`/status/${named}`, 303)
  const organizationId = await onlyOrganizationId({ db })
  if (organizationId !== null) {
    // The name of a private page is not revealed.
    const [first, ...more] = await pagesNamed({ db }, { organizationId })
    if (first?.kind === 'PUBLIC' && more.length === 0) return c.redirect(`/status/${first.slug}`, 302)
  }
  const words = wordsFor(c)
  const { title } = words.find
  const form = (
    <>
      <FindForm value="" words={words} />
      <PublishOne words={words} />
    </>
  )
  if (words.tag !== 'en') return respondInOwnersFrame(c, site, ourselves(site), { title, words, content: form })
  const page = {
    title: `${title} · Allclear`,
    description: 'Opens a status page by its name.',
    path: '/status',
    indexed: true,
  }
  const content = (
    <>
      <h1>{title}</h1>
      {form}
    </>
  )
  return respondWithPage(c, site, page, content)
}

/** Returns the texts in the reader’s language, and declares that the answer depends on it. */
function wordsFor(c: Context): Catalogue {
  c.header('vary', 'accept-language', { append: true })
  return wordsOf(preferredLanguage(c.req.header('accept-language'), { offered: languages, byDefault: 'EN' }))
}

/** This service in place of a page’s owner, for layouts in languages other than English. */
const ourselves = ({ baseUrl }: Site) => ({ name: 'Allclear', url: baseUrl, accentColor: '#0d6656', logoUrl: null })

/** Answers for an unknown name: with the page whose slug the name normalizes to, or with the form. */
export function pageNotFound(c: Context, site: Site, name: string): Response {
  const slug = slugIn(name)
  if (slug !== '' && slug !== name) return c.redirect(`/status/${slug}`, 302)
  const words = wordsFor(c)
  const title = words.find.missing
  const form = (
    <>
      <FindForm value={name.slice(0, MAX_SHOWN_LENGTH)} words={words} />
      <PublishOne words={words} />
    </>
  )
  if (words.tag !== 'en')
    return respondInOwnersFrame(c, site, ourselves(site), { title, words, content: form, status: 404 })
  const content = (
    <ErrorContent status={404} title={title}>
      {form}
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

/** Normalizes the input to a slug; of a whole address, uses the name of its page. Empty: not a possible slug. */
export function slugIn(text: string): string {
  const [, name = text] = /\/status\/([^/?#]+)/.exec(text) ?? []
  const slug = name
    .trim()
    .toLowerCase()
    .replace(/[\s_.]+/g, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
  return slugText.safeParse(slug).data ?? ''
}

const MAX_SHOWN_LENGTH = 100

function FindForm({ value, words: { find } }: { readonly value: string; readonly words: Catalogue }) {
  return (
    <form class="check" action="/status" method="get">
      <label for="page">{find.label}</label>
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
        <button type="submit">{find.open}</button>
      </div>
    </form>
  )
}

function PublishOne({ words: { find } }: { readonly words: Catalogue }) {
  return (
    <p>
      {find.own} <a href="/console">{find.publish}</a>
    </p>
  )
}
