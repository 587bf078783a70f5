/**
 * Schemes that an operating system opens itself, whatever app registers for them: they lead to no app of a client, and some run what they are
 * given (`ms-msdt:`, `search-ms:`, `x-help-script:`). Whoever registers without an operator may not send a browser there. Sources:
 *
 * - Windows: https://learn.microsoft.com/windows/apps/develop/launch/reserved-uri-scheme-names, and the enumeration URL_SCHEME of shlwapi.h.
 *   Every `ms-…` is Microsoft's, and the names of file types (`htafile`) are schemes to the shell.
 * - Apple: the Apple URL Scheme Reference, and what Launch Services has for the apps that come with macOS and iOS.
 * - Linux: the handlers `x-scheme-handler/…` of desktops (MIME Applications Associations of freedesktop.org) and the schemes of GVfs and KIO.
 * - Android: https://developer.android.com/guide/components/intents-common.
 *
 * Editors (`cursor`, `vscode`) are apps, and sign in by their schemes.
 */
const windows =
  "bing callto dtmf hcp iehistory ierss internetshortcut its jscript knownfolder ldap ldaps local maps mhtml mk mms mmst mmsu mshelp office onenote " +
  "onenote-cmd outlookfeed read rlogin search search-ms shell smb stickynotes telnet tn3270 unknown usertileprovider wallet xbls zune";
const windowsPrefixes =
  "ms- microsoft- microsoft. msi. explorer. application. windows. windowsmediacenter windowsdefender wmp11.";
/** `exefile`, `chm.file`. */
const windowsFileTypes =
  "bat cer chm. cmd com cpl dll drv exe fon hlp hta inf ins jse lnk ocx pif reg scr scriptlet shb shcmd shs sys ttf vbe vbs wsf ws wsh";
const apple =
  "addressbook afp applefeedback applenews applenewss applescript calshow cifs daap facetime facetime-audio facetime-group feed findmy " +
  "help ibooks ical imessage imap iphoto macappstore macappstores message mobilenotes music nfs osascript photos-redirect podcasts pop prefs " +
  "app-prefs shareddocuments shortcuts ssh videos vnc webcal workflow";
const applePrefixes = "x-apple apple- com.apple. x-help- itms x-man-page x-safari- x-web-search";
const linux =
  "admin afc appstream apt apturl archive bluetooth burn camera computer dav davs desktop dns-sd fish ghelp gopher info kdeconnect man mtp network " +
  "recent remote sftp snap trash ymp";
const android = "android-app content geo google.navigation market mmsto package sip smsto voicemail";
/** Of mail, news and remote machines, on every desktop. */
const everywhere = "ftps mid news nntp rdp rtsp rsh sips skype snews svn+ssh git+ssh tftp wais wtai";

const names = [windows, apple, linux, android, everywhere].flatMap((list) => list.split(" "));
const schemes: ReadonlySet<string> = new Set([...names, ...windowsFileTypes.split(" ").map((type) => `${type}file`)]);
const prefixes: readonly string[] = [windowsPrefixes, applePrefixes].flatMap((list) => list.split(" "));

/** Whether an operating system opens an address itself. */
export function isOfSystem(uri: string): boolean {
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(":"))).toLowerCase();
  return schemes.has(scheme) || prefixes.some((prefix) => scheme.startsWith(prefix));
}
