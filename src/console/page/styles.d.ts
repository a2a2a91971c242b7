declare module 'virtual:used-styles'
