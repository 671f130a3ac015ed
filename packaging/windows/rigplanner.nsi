; makensis -DVERSION=1.0.0 packaging/windows/rigplanner.nsi
; The installer of the self-contained folder dist/rigplanner for one user: no administrator is asked for.
Unicode true
!include "MUI2.nsh"
!include "FileFunc.nsh"
!ifndef FOLDER
  !define FOLDER "..\..\build\folder\rigplanner"
!endif
!ifndef OUT
  !define OUT "..\..\dist\RigPlanner-${VERSION}-setup.exe"
!endif
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\RigPlanner"

Name "RigPlanner ${VERSION}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\RigPlanner"
RequestExecutionLevel user
SetCompressor /SOLID lzma

!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\rigplanner-desktop.exe"
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "Czech"
!insertmacro MUI_LANGUAGE "TradChinese"

Section "RigPlanner"
  ; What an earlier version brought goes first, so that no file of two versions is mixed.
  RMDir /r "$INSTDIR\_internal"
  SetOutPath "$INSTDIR"
  File /r "${FOLDER}/*"
  CreateShortcut "$SMPROGRAMS\RigPlanner.lnk" "$INSTDIR\rigplanner-desktop.exe"
  WriteRegStr HKCU "Software\Classes\.rig" "" "RigPlanner.rig"
  WriteRegStr HKCU "Software\Classes\RigPlanner.rig" "" "RigPlanner rig"
  WriteRegStr HKCU "Software\Classes\RigPlanner.rig\DefaultIcon" "" "$INSTDIR\rigplanner-desktop.exe,0"
  WriteRegStr HKCU "Software\Classes\RigPlanner.rig\shell\open\command" "" '"$INSTDIR\rigplanner-desktop.exe" "%1"'
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKCU "${KEY}" "DisplayName" "RigPlanner"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\rigplanner-desktop.exe"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  IntFmt $0 "0x%08X" $0
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" "$0"
SectionEnd

Section "Uninstall"
  ; Rigs, prices and settings of the user lie elsewhere and stay.
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\rigplanner.exe"
  Delete "$INSTDIR\rigplanner-desktop.exe"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\RigPlanner.lnk"
  DeleteRegKey HKCU "Software\Classes\RigPlanner.rig"
  DeleteRegValue HKCU "Software\Classes\.rig" ""
  DeleteRegKey HKCU "${KEY}"
SectionEnd
