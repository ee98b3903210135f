import { deleteOrganization } from '../../../account/organization/deletion.ts'
import { countContents } from '../../../account/organization/organization-queries.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { FormProblem, InputField } from '../../../http/page/form.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'

/** Adds the screen that deletes the organization. */
export function organizationDeletionScreens({ form }: Screens): void {
  form('page/delete', showDeletion, async ({ c, ctx, organization }, { fields }) => {
    await deleteOrganization(ctx, { id: organization.id, slug: fields.get('slug') })
    return c.redirect('/console', 303)
  })
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const { services, monitors, incidents, subscribers } = await countContents(ctx, organization.id)
  const content = (
    <form method="post" class="stack">
      <p>
        All pages, {services} services, {monitors} monitors, {incidents} incidents and {subscribers} subscribers are
        deleted, and all keys stop working immediately. For seven days the operator can restore them. Subscriptions at
        the payment provider continue: cancel them there.
      </p>
      <FormProblem state={state} fields={['slug']} />
      <InputField
        label={`Type ${organization.slug} to confirm`}
        name="slug"
        state={state}
        required
        autocomplete="off"
      />
      <p class="actions">
        <button type="submit" class="danger">
          Delete {organization.name}
        </button>{' '}
        <a href={screen.path('page')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: `Delete ${organization.name}`, section: 'page', content }, state)
}
