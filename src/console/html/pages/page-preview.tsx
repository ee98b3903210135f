import { dataUrl } from '../../../account/page/logo.ts'
import { validSettings } from '../../../account/page/page-settings.ts'
import { Invalid } from '../../../core/errors.ts'
import type { SubmittedForm } from '../../../http/page/form.tsx'
import { privateHeaders } from '../../../people/html/frame.tsx'
import type { PageDraft } from '../../../status-page/html/rendered-page.tsx'
import { renderDraft } from '../../../status-page/html/rendered-page.tsx'
import { withoutLocked } from '../frame/managed.tsx'
import type { Screen } from '../frame/screen.tsx'
import type { EditedPage } from './page-fields.tsx'
import { readLogoFile, readPageFields } from './page-fields.tsx'

/** Returns the typed settings, as far as they are valid, and a chosen logo as a data URL. */
export async function readDraft(sent: SubmittedForm, page: EditedPage): Promise<PageDraft> {
  const { serviceIds, ...fields } = withoutLocked(readPageFields(sent, page, { isDraft: true }), sent.fields)
  const typedZone = sent.fields.get('timeZone') ?? undefined
  const { name, description, accentColor, timeZone, logoUrl, links } = validSettings({ ...fields, timeZone: typedZone })
  const logo = sent.fields.has('logoNone') ? null : logoUrl
  const typed = { name, description, accentColor, timeZone, logoUrl: logo, links, serviceIds }
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined))
  try {
    const upload = readLogoFile(sent)
    return upload ? { ...given, logoUrl: dataUrl(upload) } : given
  } catch (error) {
    // Saving reports the problem.
    if (error instanceof Invalid) return given
    throw error
  }
}

/** Answers the script, which updates the preview during typing. */
export async function sendPreview({ c, ctx }: Screen, sent: SubmittedForm, page: EditedPage): Promise<Response> {
  const html = await renderDraft(ctx.pages, page.slug, await readDraft(sent, page))
  // As plain text, so that it is not a page when opened directly.
  return c.body(html, 200, { ...privateHeaders, 'content-type': 'text/plain; charset=utf-8' })
}

/** Renders the page in its own frame, without scripts, so that nothing in it can access the console. */
export async function preview(screen: Screen, { slug }: EditedPage, draft: PageDraft, from: string) {
  return (
    <section class="page-preview" aria-label="Preview">
      <iframe
        id="preview"
        title="Preview of the page"
        sandbox=""
        srcdoc={await renderDraft(screen.ctx.pages, slug, draft)}
        data-from={screen.path(from)}
      />
    </section>
  )
}
