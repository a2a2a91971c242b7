import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { startOidcProvider } from '../support/oidc.ts'
import { dialog, openAccountMenu, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

/** Browsers make passkeys for host names, and not for 127.0.0.1. */
const byName = (address: string) => address.replace('127.0.0.1', 'localhost')
const password = 'a password of many words'

/** Gives the page an authenticator that confirms everything, as a fingerprint sensor would. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
}

const fresh = async (scene: Scene, service: { url: string }, path = '') => {
  const page = await scene.open({ url: service.url }, `${byName(service.url)}/console/${path}`, null)
  await addAuthenticator(page)
  return page
}

describe('people', async () => {
  story(
    'the first link makes the first member, who invites another; that one signs in by a passkey',
    async (scene) => {
      const service = await startWithConsole()
      const { path } = (await service.manage('POST', '/sign-in-links')).json

      // The first start prints such a link.
      const ada = await fresh(scene, service, path.replace('/console/', ''))
      await sees(ada, 'Create your account')
      await scene.picture(ada, 'first-account')
      await ada.getByLabel('Your name').fill('Ada Lovelace')
      await ada.getByLabel('Email').fill('ada@example.com')
      await ada.getByLabel('Password', { exact: true }).fill('short')
      await ada.getByRole('button', { name: 'Create account', exact: true }).click()
      await sees(ada, /at least 12 characters/)
      await ada.getByLabel('Password', { exact: true }).fill(password)
      await ada.getByRole('button', { name: 'Create account', exact: true }).click()
      await openAccountMenu(ada)
      await sees(ada, 'ada@example.com')
      await ada.getByRole('menuitem', { name: 'Members' }).click()
      await ada.getByRole('button', { name: 'Invite' }).click()
      await dialog(ada).getByLabel('Email').fill('grace@example.com')
      await dialog(ada).getByRole('button', { name: 'Create invitation link' }).click()
      const link = (await dialog(ada).getByLabel('invitation link', { exact: true }).textContent())!
      await dialog(ada).getByRole('button', { name: 'Done' }).click()
      await sees(ada, 'Invited')
      await scene.picture(ada, 'members')
      await scene.look(ada, 'the members')

      const grace = await fresh(scene, service, `#${new URL(link).hash.slice(1)}`)
      await sees(grace, 'grace@example.com is invited as editor of all projects.')
      await scene.look(grace, 'an invitation')
      await grace.getByLabel('Your name').fill('Grace Hopper')
      await grace.getByRole('button', { name: 'Create account with a passkey' }).click()
      await openAccountMenu(grace)
      await sees(grace, 'Editor in this project')
      await grace.getByRole('menuitem', { name: 'Sign out' }).click()
      await sees(grace, 'Sign in to Tidings')
      await scene.picture(grace, 'sign-in')
      await scene.look(grace, 'the sign-in page')
      await grace.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await openAccountMenu(grace)
      await sees(grace, 'Grace Hopper')

      // Her account: a name, a second way to sign in, and the browsers.
      await grace.getByRole('menuitem', { name: 'My account' }).click()
      await grace.getByRole('table', { name: 'Your passkeys' }).getByRole('button', { name: 'Rename' }).click()
      await dialog(grace).getByLabel('Name').fill('Laptop')
      await dialog(grace).getByRole('button', { name: 'Save' }).click()
      await sees(grace, 'Passkey renamed')
      await grace.getByRole('table', { name: 'Your passkeys' }).getByRole('button', { name: 'Remove' }).click()
      await dialog(grace).getByRole('button', { name: 'Remove' }).click()
      await sees(dialog(grace), /only way/)
      await dialog(grace).getByRole('button', { name: 'Cancel' }).click()
      await grace.getByLabel('New password').fill(password)
      await grace.getByRole('button', { name: 'Set password' }).click()
      await sees(grace, 'Password set. Your other sessions have ended.')
      await sees(grace.getByRole('table', { name: 'Signed-in browsers' }), 'This browser')
      await scene.picture(grace, 'account')
      await scene.look(grace, 'the account')

      // The admin takes the rights away while Grace is signed in.
      await ada.reload()
      await ada.getByLabel('Role of Grace Hopper').selectOption('viewer')
      await sees(ada, 'Grace Hopper is now viewer')
      await grace.goto(`${byName(service.url)}/console/`)
      await grace.getByLabel('View only').waitFor()
      const row = ada.getByRole('row', { name: /Grace Hopper/ })
      await row.getByRole('button', { name: 'Remove' }).click()
      await dialog(ada).getByRole('button', { name: 'Remove' }).click()
      await row.waitFor({ state: 'detached' })
      await grace.reload()
      await sees(grace, 'Sign in to Tidings')
      await grace.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await sees(grace, /not accepted/)
    },
    refusals
  )

  story('a member signs in with the identity provider, and its groups decide what the page offers', async (scene) => {
    const provider = await startOidcProvider(() => [`${service.url}/console/oidc/callback`])
    const service = await startWithConsole({ ...provider.settings, OIDC_NAME: 'Example Corp' })
    provider.person = { sub: 'vera', name: 'Vera', email: 'vera@example.com', email_verified: true, groups: ['staff'] }
    const page = await scene.open({ url: service.url }, 'p/demo/users', null)
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click()
    await page.getByLabel('View only').waitFor()
    assert.match(page.url(), /\/console\/p\/demo\/users$/)
    await openAccountMenu(page)
    await sees(page, 'vera@example.com')
    await page.getByRole('menuitem', { name: 'My account' }).click()
    await sees(page, /You sign in with Example Corp/)

    provider.person = { sub: 'vera', name: 'Vera', groups: [] }
    await openAccountMenu(page)
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click()
    await sees(page, /none of your groups at Example Corp has a role here/)
    await provider.stop()
    const other = await service.another()
    await page.goto(`${other.url}/console/`)
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click()
    await sees(page, /Example Corp cannot be reached/)
    await scene.look(page, 'the sign-in page with a problem')
    await other.close()
  })
})
