import { setPrivateTargets } from '../../../account/private-targets/permission.ts'
import { isOperator } from '../../../core/access.ts'
import { Invalid } from '../../../core/errors.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import type { Screen } from './screen.tsx'

/** The name of the buttons. Their value says for whom, and which question of the form is asked again. */
const BUTTON = 'allowPrivateTargets'

/**
 * Allows private targets if the form was sent with a button of `PrivateTargetsOffer`. After that, the form is executed
 * as if its own button had been pressed.
 * @throws Forbidden unless the person is the operator. @throws Unauthenticated for one who must confirm their identity.
 */
export async function allowIfAsked({ ctx, organization }: Screen, { fields }: SubmittedForm): Promise<boolean> {
  const button = fields.get(BUTTON)
  if (button === null) return false
  const [scope, question] = button.split(' ')
  await setPrivateTargets(ctx, { organizationId: scope === 'all' ? null : organization.id, allowed: true })
  fields.delete(BUTTON)
  if (question !== undefined) fields.set(question, 'true')
  return true
}

/** Returns whether a form was refused because its target is in a private network, which the operator can allow. */
const isPrivate = ({ problem }: FormState): boolean =>
  problem instanceof Invalid && problem.issues.some(({ kind }) => kind === 'PRIVATE_TARGET')

/**
 * Renders the buttons with which the operator allows private targets, in a form that was refused for one. They send the
 * form again with all that was typed. Nothing for others. It belongs after the main button, which the Enter key presses.
 * @param question the name of the button that was pressed, such as `test`, if it was not the form's main one.
 * @param isRefused whether the target was refused, if the problem of the form does not say so.
 */
export function PrivateTargetsOffer({
  screen,
  state,
  question = state.fields.has('test') ? 'test' : null,
  isRefused = isPrivate(state),
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly question?: string | null
  readonly isRefused?: boolean
}) {
  const { self, organization } = screen
  if (!isRefused || !isOperator(self.actor)) return null
  const valueFor = (scope: 'organization' | 'all') => [scope, question ?? []].flat().join(' ')
  return (
    <section id="private-targets" aria-label="Private targets">
      <p>
        You operate this service, so you can allow private targets now. Monitors, alert channels and webhooks may then
        reach your network and this machine itself, but never metadata services of clouds. Your input is kept and sent
        again. You can withdraw it in <a href={privateTargetsPath(organization.id)}>the organization’s settings</a>.
      </p>
      <p class="actions">
        <button type="submit" name={BUTTON} value={valueFor('organization')}>
          Allow private targets for {organization.name}
        </button>
        <button type="submit" name={BUTTON} value={valueFor('all')} class="quiet">
          Allow private targets for all organizations
        </button>
      </p>
    </section>
  )
}

/** Returns the address of the operator's switch for an organization. */
export const privateTargetsPath = (id: string) => `/console/operator/organizations/${id}#private-targets`

/** Renders a link to the operator's switch, if a private target was refused and the person is the operator. */
export function PrivateTargetsLink({ screen, isRefused }: { readonly screen: Screen; readonly isRefused: boolean }) {
  const { self, organization } = screen
  if (!isRefused || !isOperator(self.actor)) return null
  return (
    <p>
      <a href={privateTargetsPath(organization.id)}>Allow private targets for {organization.name}</a>
    </p>
  )
}
