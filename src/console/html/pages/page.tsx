import { domainOfPage } from '../../../account/custom-domain/custom-domain.ts'
import { findPage } from '../../../account/page/page.ts'
import { requireScope } from '../../../core/access.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, InputField } from '../../../http/page/form.tsx'
import { updateFirstPage } from '../../../status/page/page.ts'
import type { PageDraft } from '../../../status-page/html/rendered-page.tsx'
import { currentValue, EditProblem, PreviewButton, readVersion, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields, ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import { redirectWithNotice } from '../frame/notice.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { isDraft, readServiceNames } from '../services/service-fields.tsx'
import { DomainSection, domainForms } from './page-domain.tsx'
import { PageFields, pageFields, readLogoFile, readPageFields, ShownServices } from './page-fields.tsx'
import { LanguageFields, languageFields, readLanguages } from './page-languages.tsx'
import { preview, readDraft, sendPreview } from './page-preview.tsx'

const FIELDS = [...pageFields, ...languageFields, 'contactEmail', 'timeZone'] as const

/** Reads the first page. Requires the role ADMIN. */
const firstPage = ({ ctx, organization }: Screen) => findPage(ctx.db, requireScope(ctx, 'ADMIN'), organization.id)

/** Adds the settings of the organization and its first page, and its domain. */
export function pageScreens(screens: Screens): void {
  const { form, draft } = screens
  form('page', showSettings, async (screen, sent) => {
    const { ctx } = screen
    const page = await firstPage(screen)
    if (isDraft(sent.fields)) {
      return showSettings(screen, { fields: sent.fields, problem: null }, await readDraft(sent, page))
    }
    const input = { ...withoutLocked(readPageFields(sent, page), sent.fields), ...organizationFields(sent) }
    const { slug } = await updateFirstPage(ctx, input, readLogoFile(sent))
    // The slug is in the address of every screen.
    return redirectWithNotice(screen, `/console/${slug}/page`, sent.fields)
  })
  draft('page/preview', async (screen, sent) => sendPreview(screen, sent, await firstPage(screen)), showSettings)
  domainForms(screens, 'page', firstPage, showSettings)
}

const organizationFields = ({ fields }: SubmittedForm) => ({
  contactEmail: fields.get('contactEmail'),
  timeZone: fields.get('timeZone'),
  ...readLanguages(fields),
  version: readVersion(fields),
})

async function showSettings(screen: Screen, state: FormState, draft: PageDraft = {}): Promise<Response> {
  const { ctx, organization } = screen
  const page = await firstPage(screen)
  const [services, domain] = await Promise.all([readServiceNames(screen), domainOfPage(ctx, page.id)])
  const { version, timeZone } = page
  const { contactEmail } = organization
  const isDomain = state.fields.has('domain')
  const { managed, state: settings } = await readLock(screen, page.id, isDomain ? emptyForm : state)
  const content = (
    <>
      <ManagedNote {...{ screen, managed }} />
      <div class="with-preview">
        <form method="post" class="stack" id="settings" enctype="multipart/form-data">
          <EditProblem state={settings} version={version} fields={FIELDS} />
          <VersionField state={settings} version={version} />
          <LockedFields state={settings} />
          <PageFields {...{ page, version }} state={settings} />
          <ShownServices {...{ services, version }} shown={page.serviceIds} state={settings} />
          <InputField
            label="Time zone"
            name="timeZone"
            state={settings}
            value={timeZone}
            required
            hint={currentValue(settings, version, {
              name: 'timeZone',
              value: timeZone,
              hint: 'Such as Europe/Berlin. Uptime days start at midnight in this zone.',
            })}
          />
          <LanguageFields {...{ organization, version }} state={settings} />
          <InputField
            label="Contact address"
            name="contactEmail"
            type="email"
            state={settings}
            value={contactEmail}
            required
            hint={currentValue(settings, version, {
              name: 'contactEmail',
              value: contactEmail,
              hint: 'For billing and reminders. Not shown.',
            })}
          />
          <p class="actions">
            <button type="submit">Save</button>
            <PreviewButton />
          </p>
        </form>
        {await preview(screen, page, draft, 'page/preview')}
      </div>
      <DomainSection {...{ screen, domain, version }} path="page" state={isDomain ? state : emptyForm} />
      {screen.role === 'OWNER' ? (
        <section>
          <h2>Delete</h2>
          <p class="actions">
            <a href={screen.path('page/delete')}>Delete {organization.name}</a>
          </p>
        </section>
      ) : null}
    </>
  )
  const actions = (
    <>
      <a href={screen.path('pages')}>All pages</a> <a href={screen.path(`pages/${page.id}/access`)}>Access</a>{' '}
      <a href={screen.path(`pages/${page.id}/order`)}>Order</a>{' '}
      <a href={screen.path(`pages/${page.id}/embed`)}>Status line</a> <a href={`/status/${page.slug}`}>View page</a>
    </>
  )
  return screen.show({ title: 'Page', section: 'page', content, actions, hasForeignPictures: true }, state)
}
