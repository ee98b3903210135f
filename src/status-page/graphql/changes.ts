import { requirePage } from '../../account/page/page-guard.ts'
import { encodeCursor } from '../../event-log/event.ts'
import type { Gap } from '../../event-log/tail.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { costs, STATEMENT_COST, text } from '../../graphql/document/cost.ts'
import { BROADCAST } from '../../graphql/subscription/shared-execution.ts'
import { hostNameOf } from '../../http/request/host-header.ts'
import type { Language } from '../../language/catalogue.ts'
import { languageOfTag } from '../../language/choice.ts'
import { followPage } from '../../status/page/page-events.ts'
import { followOverview, overviewPatch } from '../html/rendered-page.tsx'
import type { PageAddress } from '../page-address.ts'
import { inLanguage, pageAddressOf, pageAddressOfHost } from '../page-address.ts'
import type { PagePatch } from '../page-cache.ts'
import type { StatusPageNeeds } from './builder.ts'
import { builder } from './builder.ts'

/** The address of an open page. */
interface OpenPage {
  readonly slug: string
  /** The custom domain; null: none. */
  readonly host: string | null
  readonly language: Language | null
}

const PagePatchRef = builder.objectRef<PagePatch>('PagePatch').implement({
  description: 'Changes that update an open status page to a newer version, for the page’s own script.',
  fields: (t) => ({
    since: t.stringList({
      resolve: ({ since }) => [...since],
      description: 'The versions to which they apply, as in the attribute `data-parts` of the page.',
    }),
    html: t.exposeString('html', {
      extensions: text(8000),
      description:
        'The changed parts of the page: HTML, compressed (zlib), in base64. Its form may change at any time.',
    }),
  }),
})

const StatusPageChange = builder
  .objectRef<{ readonly event: Event | Gap; readonly page: OpenPage }>('StatusPageChange')
  .implement({
    description: 'An event on a status page, with its changes to an open page.',
    fields: (t) => ({
      cursor: t.string({
        description: 'The event’s position. Pass it as `after` to resume from here.',
        resolve: ({ event }) => encodeCursor(event.seq),
      }),
      isReload: t.boolean({
        description: 'Whether events after your cursor are no longer available: load the page again.',
        resolve: ({ event }) => event.kind === 'GAP',
      }),
      patch: t.field({
        type: PagePatchRef,
        nullable: true,
        // Includes rendering the page.
        extensions: costs({ itself: 50 * STATEMENT_COST }),
        description:
          'The changes. Null: an earlier event included them, or they are too large; fetch them from the page.',
        resolve: ({ event, page }, _args, ctx) => (event.kind === 'GAP' ? null : patchAt(ctx, page, event)),
      }),
    }),
  })

builder.subscriptionField('statusPageChanges', (t) =>
  t.field({
    type: StatusPageChange,
    description:
      'Sends the changes to the overview of a status page, for open pages. Programs use `statusPageEvents` instead.',
    args: {
      slug: t.arg.string({ description: 'The organization’s name in URLs.' }),
      host: t.arg.string({
        required: false,
        description: 'The custom domain on which the page is open. Default: none.',
      }),
      language: t.arg.string({
        required: false,
        description: 'The language in the address of the page, such as `de`. Default: none.',
      }),
      after: t.arg.string({
        required: false,
        description: 'A cursor of a page or an event: sends all later events. Default: events from now on.',
      }),
    },
    extensions: { ...BROADCAST, ...costs({ about: ({ slug }) => ({ slug: String(slug) }) }) },
    subscribe: async (_root, { slug, host, language, after }, ctx) => {
      const address = await addressOf(ctx, openPageOf(slug, host, language))
      const events = await followPage(ctx, slug, after ?? null)
      try {
        // Without this, the first event has no patch.
        if (address !== null) await followOverview(ctx.pages, address)
        return events
      } catch (error) {
        await events.return()
        throw error
      }
    },
    resolve: (event, { slug, host, language }) => ({ event, page: openPageOf(slug, host, language) }),
  }),
)

async function patchAt(
  ctx: StatusPageNeeds,
  page: OpenPage,
  { seq, organizationId }: Event,
): Promise<PagePatch | null> {
  const address = await addressOf(ctx, page)
  return address && overviewPatch(ctx.pages, address, { seq, organizationId })
}

/**
 * Returns null for a host that is not a custom domain.
 * @throws Unauthenticated when the page there is private to the caller.
 */
async function addressOf(ctx: StatusPageNeeds, { slug, host, language }: OpenPage): Promise<PageAddress | null> {
  const { pages } = ctx
  const address = host === null ? pageAddressOf(slug, pages) : await pageAddressOfHost(hostNameOf(host), pages)
  if (address !== null) await requirePage(ctx, address.host === null ? { slug } : { pageId: address.owner })
  return address && inLanguage(address, language)
}

function openPageOf(slug: string, host: string | null | undefined, language: string | null | undefined): OpenPage {
  return { slug, host: host ?? null, language: languageOfTag(language ?? undefined) }
}
