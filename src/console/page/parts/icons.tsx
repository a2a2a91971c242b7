import type { Icon } from '@tabler/icons-react'
import bolt from '@tabler/icons-react/dist/esm/icons/IconBolt.mjs'
import check from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs'
import copy from '@tabler/icons-react/dist/esm/icons/IconCopy.mjs'
import deviceMobile from '@tabler/icons-react/dist/esm/icons/IconDeviceMobile.mjs'
import home from '@tabler/icons-react/dist/esm/icons/IconHome.mjs'
import logout from '@tabler/icons-react/dist/esm/icons/IconLogout.mjs'
import message from '@tabler/icons-react/dist/esm/icons/IconMessage.mjs'
import moon from '@tabler/icons-react/dist/esm/icons/IconMoon.mjs'
import robot from '@tabler/icons-react/dist/esm/icons/IconRobot.mjs'
import settings from '@tabler/icons-react/dist/esm/icons/IconSettings.mjs'
import speakerphone from '@tabler/icons-react/dist/esm/icons/IconSpeakerphone.mjs'
import sun from '@tabler/icons-react/dist/esm/icons/IconSun.mjs'
import users from '@tabler/icons-react/dist/esm/icons/IconUsers.mjs'
import webhook from '@tabler/icons-react/dist/esm/icons/IconWebhook.mjs'
import x from '@tabler/icons-react/dist/esm/icons/IconX.mjs'

/** Icons stand beside or inside something that has a name, so screen readers skip them. */
const decorative = (Drawing: Icon) => () => <Drawing size={16} aria-hidden />

export const AgentsIcon = decorative(robot)
export const CampaignsIcon = decorative(speakerphone)
export const CheckIcon = decorative(check)
export const CopyIcon = decorative(copy)
export const HomeIcon = decorative(home)
export const LabIcon = decorative(deviceMobile)
export const MessagesIcon = decorative(message)
export const MoonIcon = decorative(moon)
export const RemoveIcon = decorative(x)
export const SettingsIcon = decorative(settings)
export const SignOutIcon = decorative(logout)
export const SunIcon = decorative(sun)
export const TriggersIcon = decorative(bolt)
export const UsersIcon = decorative(users)
export const WebhooksIcon = decorative(webhook)
