"""Odd corners: sizes that need EXTENDED_ARG, and statements that fit nowhere else."""
# fmt: off
# ruff: noqa: E402, E501, E702, E704, E722, F401, F811, F821, F842, I001, PTH118


# program: many_constants_and_names
# note: more than 256 constants and names: every index above 255 needs EXTENDED_ARG
# f(3) => record, hit
# f(4) => hit
# f(2.5) => miss record
n0 = 1000; n1 = 1001; n2 = 1002; n3 = 1003; n4 = 1004; n5 = 1005; n6 = 1006; n7 = 1007; n8 = 1008; n9 = 1009
n10 = 1010; n11 = 1011; n12 = 1012; n13 = 1013; n14 = 1014; n15 = 1015; n16 = 1016; n17 = 1017; n18 = 1018; n19 = 1019
n20 = 1020; n21 = 1021; n22 = 1022; n23 = 1023; n24 = 1024; n25 = 1025; n26 = 1026; n27 = 1027; n28 = 1028; n29 = 1029
n30 = 1030; n31 = 1031; n32 = 1032; n33 = 1033; n34 = 1034; n35 = 1035; n36 = 1036; n37 = 1037; n38 = 1038; n39 = 1039
n40 = 1040; n41 = 1041; n42 = 1042; n43 = 1043; n44 = 1044; n45 = 1045; n46 = 1046; n47 = 1047; n48 = 1048; n49 = 1049
n50 = 1050; n51 = 1051; n52 = 1052; n53 = 1053; n54 = 1054; n55 = 1055; n56 = 1056; n57 = 1057; n58 = 1058; n59 = 1059
n60 = 1060; n61 = 1061; n62 = 1062; n63 = 1063; n64 = 1064; n65 = 1065; n66 = 1066; n67 = 1067; n68 = 1068; n69 = 1069
n70 = 1070; n71 = 1071; n72 = 1072; n73 = 1073; n74 = 1074; n75 = 1075; n76 = 1076; n77 = 1077; n78 = 1078; n79 = 1079
n80 = 1080; n81 = 1081; n82 = 1082; n83 = 1083; n84 = 1084; n85 = 1085; n86 = 1086; n87 = 1087; n88 = 1088; n89 = 1089
n90 = 1090; n91 = 1091; n92 = 1092; n93 = 1093; n94 = 1094; n95 = 1095; n96 = 1096; n97 = 1097; n98 = 1098; n99 = 1099
n100 = 1100; n101 = 1101; n102 = 1102; n103 = 1103; n104 = 1104; n105 = 1105; n106 = 1106; n107 = 1107; n108 = 1108; n109 = 1109
n110 = 1110; n111 = 1111; n112 = 1112; n113 = 1113; n114 = 1114; n115 = 1115; n116 = 1116; n117 = 1117; n118 = 1118; n119 = 1119
n120 = 1120; n121 = 1121; n122 = 1122; n123 = 1123; n124 = 1124; n125 = 1125; n126 = 1126; n127 = 1127; n128 = 1128; n129 = 1129
n130 = 1130; n131 = 1131; n132 = 1132; n133 = 1133; n134 = 1134; n135 = 1135; n136 = 1136; n137 = 1137; n138 = 1138; n139 = 1139
n140 = 1140; n141 = 1141; n142 = 1142; n143 = 1143; n144 = 1144; n145 = 1145; n146 = 1146; n147 = 1147; n148 = 1148; n149 = 1149
n150 = 1150; n151 = 1151; n152 = 1152; n153 = 1153; n154 = 1154; n155 = 1155; n156 = 1156; n157 = 1157; n158 = 1158; n159 = 1159
n160 = 1160; n161 = 1161; n162 = 1162; n163 = 1163; n164 = 1164; n165 = 1165; n166 = 1166; n167 = 1167; n168 = 1168; n169 = 1169
n170 = 1170; n171 = 1171; n172 = 1172; n173 = 1173; n174 = 1174; n175 = 1175; n176 = 1176; n177 = 1177; n178 = 1178; n179 = 1179
n180 = 1180; n181 = 1181; n182 = 1182; n183 = 1183; n184 = 1184; n185 = 1185; n186 = 1186; n187 = 1187; n188 = 1188; n189 = 1189
n190 = 1190; n191 = 1191; n192 = 1192; n193 = 1193; n194 = 1194; n195 = 1195; n196 = 1196; n197 = 1197; n198 = 1198; n199 = 1199
n200 = 1200; n201 = 1201; n202 = 1202; n203 = 1203; n204 = 1204; n205 = 1205; n206 = 1206; n207 = 1207; n208 = 1208; n209 = 1209
n210 = 1210; n211 = 1211; n212 = 1212; n213 = 1213; n214 = 1214; n215 = 1215; n216 = 1216; n217 = 1217; n218 = 1218; n219 = 1219
n220 = 1220; n221 = 1221; n222 = 1222; n223 = 1223; n224 = 1224; n225 = 1225; n226 = 1226; n227 = 1227; n228 = 1228; n229 = 1229
n230 = 1230; n231 = 1231; n232 = 1232; n233 = 1233; n234 = 1234; n235 = 1235; n236 = 1236; n237 = 1237; n238 = 1238; n239 = 1239
n240 = 1240; n241 = 1241; n242 = 1242; n243 = 1243; n244 = 1244; n245 = 1245; n246 = 1246; n247 = 1247; n248 = 1248; n249 = 1249
n250 = 1250; n251 = 1251; n252 = 1252; n253 = 1253; n254 = 1254; n255 = 1255; n256 = 1256; n257 = 1257; n258 = 1258; n259 = 1259
n260 = 1260; n261 = 1261; n262 = 1262; n263 = 1263; n264 = 1264; n265 = 1265; n266 = 1266; n267 = 1267; n268 = 1268; n269 = 1269
n270 = 1270; n271 = 1271; n272 = 1272; n273 = 1273; n274 = 1274; n275 = 1275; n276 = 1276; n277 = 1277; n278 = 1278; n279 = 1279
n280 = 1280; n281 = 1281; n282 = 1282; n283 = 1283; n284 = 1284; n285 = 1285; n286 = 1286; n287 = 1287; n288 = 1288; n289 = 1289


def f(x):
    t = x
    t = t + n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 + n8 + n9
    t = t + n10 + n11 + n12 + n13 + n14 + n15 + n16 + n17 + n18 + n19
    t = t + n20 + n21 + n22 + n23 + n24 + n25 + n26 + n27 + n28 + n29
    t = t + n30 + n31 + n32 + n33 + n34 + n35 + n36 + n37 + n38 + n39
    t = t + n40 + n41 + n42 + n43 + n44 + n45 + n46 + n47 + n48 + n49
    t = t + n50 + n51 + n52 + n53 + n54 + n55 + n56 + n57 + n58 + n59
    t = t + n60 + n61 + n62 + n63 + n64 + n65 + n66 + n67 + n68 + n69
    t = t + n70 + n71 + n72 + n73 + n74 + n75 + n76 + n77 + n78 + n79
    t = t + n80 + n81 + n82 + n83 + n84 + n85 + n86 + n87 + n88 + n89
    t = t + n90 + n91 + n92 + n93 + n94 + n95 + n96 + n97 + n98 + n99
    t = t + n100 + n101 + n102 + n103 + n104 + n105 + n106 + n107 + n108 + n109
    t = t + n110 + n111 + n112 + n113 + n114 + n115 + n116 + n117 + n118 + n119
    t = t + n120 + n121 + n122 + n123 + n124 + n125 + n126 + n127 + n128 + n129
    t = t + n130 + n131 + n132 + n133 + n134 + n135 + n136 + n137 + n138 + n139
    t = t + n140 + n141 + n142 + n143 + n144 + n145 + n146 + n147 + n148 + n149
    t = t + n150 + n151 + n152 + n153 + n154 + n155 + n156 + n157 + n158 + n159
    t = t + n160 + n161 + n162 + n163 + n164 + n165 + n166 + n167 + n168 + n169
    t = t + n170 + n171 + n172 + n173 + n174 + n175 + n176 + n177 + n178 + n179
    t = t + n180 + n181 + n182 + n183 + n184 + n185 + n186 + n187 + n188 + n189
    t = t + n190 + n191 + n192 + n193 + n194 + n195 + n196 + n197 + n198 + n199
    t = t + n200 + n201 + n202 + n203 + n204 + n205 + n206 + n207 + n208 + n209
    t = t + n210 + n211 + n212 + n213 + n214 + n215 + n216 + n217 + n218 + n219
    t = t + n220 + n221 + n222 + n223 + n224 + n225 + n226 + n227 + n228 + n229
    t = t + n230 + n231 + n232 + n233 + n234 + n235 + n236 + n237 + n238 + n239
    t = t + n240 + n241 + n242 + n243 + n244 + n245 + n246 + n247 + n248 + n249
    t = t + n250 + n251 + n252 + n253 + n254 + n255 + n256 + n257 + n258 + n259
    t = t + n260 + n261 + n262 + n263 + n264 + n265 + n266 + n267 + n268 + n269
    t = t + n270 + n271 + n272 + n273 + n274 + n275 + n276 + n277 + n278 + n279
    t = t + n280 + n281 + n282 + n283 + n284 + n285 + n286 + n287 + n288 + n289
    return (
        t,
        0.25, 1.25, 2.25, 3.25, 4.25, 5.25, 6.25, 7.25, 8.25, 9.25,
        10.25, 11.25, 12.25, 13.25, 14.25, 15.25, 16.25, 17.25, 18.25, 19.25,
        20.25, 21.25, 22.25, 23.25, 24.25, 25.25, 26.25, 27.25, 28.25, 29.25,
        30.25, 31.25, 32.25, 33.25, 34.25, 35.25, 36.25, 37.25, 38.25, 39.25,
        40.25, 41.25, 42.25, 43.25, 44.25, 45.25, 46.25, 47.25, 48.25, 49.25,
        50.25, 51.25, 52.25, 53.25, 54.25, 55.25, 56.25, 57.25, 58.25, 59.25,
        60.25, 61.25, 62.25, 63.25, 64.25, 65.25, 66.25, 67.25, 68.25, 69.25,
        70.25, 71.25, 72.25, 73.25, 74.25, 75.25, 76.25, 77.25, 78.25, 79.25,
        80.25, 81.25, 82.25, 83.25, 84.25, 85.25, 86.25, 87.25, 88.25, 89.25,
        90.25, 91.25, 92.25, 93.25, 94.25, 95.25, 96.25, 97.25, 98.25, 99.25,
        100.25, 101.25, 102.25, 103.25, 104.25, 105.25, 106.25, 107.25, 108.25, 109.25,
        110.25, 111.25, 112.25, 113.25, 114.25, 115.25, 116.25, 117.25, 118.25, 119.25,
        120.25, 121.25, 122.25, 123.25, 124.25, 125.25, 126.25, 127.25, 128.25, 129.25,
        130.25, 131.25, 132.25, 133.25, 134.25, 135.25, 136.25, 137.25, 138.25, 139.25,
        140.25, 141.25, 142.25, 143.25, 144.25, 145.25, 146.25, 147.25, 148.25, 149.25,
        150.25, 151.25, 152.25, 153.25, 154.25, 155.25, 156.25, 157.25, 158.25, 159.25,
        160.25, 161.25, 162.25, 163.25, 164.25, 165.25, 166.25, 167.25, 168.25, 169.25,
        170.25, 171.25, 172.25, 173.25, 174.25, 175.25, 176.25, 177.25, 178.25, 179.25,
        180.25, 181.25, 182.25, 183.25, 184.25, 185.25, 186.25, 187.25, 188.25, 189.25,
        190.25, 191.25, 192.25, 193.25, 194.25, 195.25, 196.25, 197.25, 198.25, 199.25,
        200.25, 201.25, 202.25, 203.25, 204.25, 205.25, 206.25, 207.25, 208.25, 209.25,
        210.25, 211.25, 212.25, 213.25, 214.25, 215.25, 216.25, 217.25, 218.25, 219.25,
        220.25, 221.25, 222.25, 223.25, 224.25, 225.25, 226.25, 227.25, 228.25, 229.25,
        230.25, 231.25, 232.25, 233.25, 234.25, 235.25, 236.25, 237.25, 238.25, 239.25,
        240.25, 241.25, 242.25, 243.25, 244.25, 245.25, 246.25, 247.25, 248.25, 249.25,
        250.25, 251.25, 252.25, 253.25, 254.25, 255.25, 256.25, 257.25, 258.25, 259.25,
        260.25, 261.25, 262.25, 263.25, 264.25, 265.25, 266.25, 267.25, 268.25, 269.25,
        270.25, 271.25, 272.25, 273.25, 274.25, 275.25, 276.25, 277.25, 278.25, 279.25,
        280.25, 281.25, 282.25, 283.25, 284.25, 285.25, 286.25, 287.25, 288.25, 289.25,
        n289 * x,
    )


# program: many_locals
# note: more than 256 local variables
# f(1) => record, hit
# f(2) => hit
def f(x):
    v0 = x + 0; v1 = x + 1; v2 = x + 2; v3 = x + 3; v4 = x + 4; v5 = x + 5; v6 = x + 6; v7 = x + 7; v8 = x + 8; v9 = x + 9
    v10 = x + 10; v11 = x + 11; v12 = x + 12; v13 = x + 13; v14 = x + 14; v15 = x + 15; v16 = x + 16; v17 = x + 17; v18 = x + 18; v19 = x + 19
    v20 = x + 20; v21 = x + 21; v22 = x + 22; v23 = x + 23; v24 = x + 24; v25 = x + 25; v26 = x + 26; v27 = x + 27; v28 = x + 28; v29 = x + 29
    v30 = x + 30; v31 = x + 31; v32 = x + 32; v33 = x + 33; v34 = x + 34; v35 = x + 35; v36 = x + 36; v37 = x + 37; v38 = x + 38; v39 = x + 39
    v40 = x + 40; v41 = x + 41; v42 = x + 42; v43 = x + 43; v44 = x + 44; v45 = x + 45; v46 = x + 46; v47 = x + 47; v48 = x + 48; v49 = x + 49
    v50 = x + 50; v51 = x + 51; v52 = x + 52; v53 = x + 53; v54 = x + 54; v55 = x + 55; v56 = x + 56; v57 = x + 57; v58 = x + 58; v59 = x + 59
    v60 = x + 60; v61 = x + 61; v62 = x + 62; v63 = x + 63; v64 = x + 64; v65 = x + 65; v66 = x + 66; v67 = x + 67; v68 = x + 68; v69 = x + 69
    v70 = x + 70; v71 = x + 71; v72 = x + 72; v73 = x + 73; v74 = x + 74; v75 = x + 75; v76 = x + 76; v77 = x + 77; v78 = x + 78; v79 = x + 79
    v80 = x + 80; v81 = x + 81; v82 = x + 82; v83 = x + 83; v84 = x + 84; v85 = x + 85; v86 = x + 86; v87 = x + 87; v88 = x + 88; v89 = x + 89
    v90 = x + 90; v91 = x + 91; v92 = x + 92; v93 = x + 93; v94 = x + 94; v95 = x + 95; v96 = x + 96; v97 = x + 97; v98 = x + 98; v99 = x + 99
    v100 = x + 100; v101 = x + 101; v102 = x + 102; v103 = x + 103; v104 = x + 104; v105 = x + 105; v106 = x + 106; v107 = x + 107; v108 = x + 108; v109 = x + 109
    v110 = x + 110; v111 = x + 111; v112 = x + 112; v113 = x + 113; v114 = x + 114; v115 = x + 115; v116 = x + 116; v117 = x + 117; v118 = x + 118; v119 = x + 119
    v120 = x + 120; v121 = x + 121; v122 = x + 122; v123 = x + 123; v124 = x + 124; v125 = x + 125; v126 = x + 126; v127 = x + 127; v128 = x + 128; v129 = x + 129
    v130 = x + 130; v131 = x + 131; v132 = x + 132; v133 = x + 133; v134 = x + 134; v135 = x + 135; v136 = x + 136; v137 = x + 137; v138 = x + 138; v139 = x + 139
    v140 = x + 140; v141 = x + 141; v142 = x + 142; v143 = x + 143; v144 = x + 144; v145 = x + 145; v146 = x + 146; v147 = x + 147; v148 = x + 148; v149 = x + 149
    v150 = x + 150; v151 = x + 151; v152 = x + 152; v153 = x + 153; v154 = x + 154; v155 = x + 155; v156 = x + 156; v157 = x + 157; v158 = x + 158; v159 = x + 159
    v160 = x + 160; v161 = x + 161; v162 = x + 162; v163 = x + 163; v164 = x + 164; v165 = x + 165; v166 = x + 166; v167 = x + 167; v168 = x + 168; v169 = x + 169
    v170 = x + 170; v171 = x + 171; v172 = x + 172; v173 = x + 173; v174 = x + 174; v175 = x + 175; v176 = x + 176; v177 = x + 177; v178 = x + 178; v179 = x + 179
    v180 = x + 180; v181 = x + 181; v182 = x + 182; v183 = x + 183; v184 = x + 184; v185 = x + 185; v186 = x + 186; v187 = x + 187; v188 = x + 188; v189 = x + 189
    v190 = x + 190; v191 = x + 191; v192 = x + 192; v193 = x + 193; v194 = x + 194; v195 = x + 195; v196 = x + 196; v197 = x + 197; v198 = x + 198; v199 = x + 199
    v200 = x + 200; v201 = x + 201; v202 = x + 202; v203 = x + 203; v204 = x + 204; v205 = x + 205; v206 = x + 206; v207 = x + 207; v208 = x + 208; v209 = x + 209
    v210 = x + 210; v211 = x + 211; v212 = x + 212; v213 = x + 213; v214 = x + 214; v215 = x + 215; v216 = x + 216; v217 = x + 217; v218 = x + 218; v219 = x + 219
    v220 = x + 220; v221 = x + 221; v222 = x + 222; v223 = x + 223; v224 = x + 224; v225 = x + 225; v226 = x + 226; v227 = x + 227; v228 = x + 228; v229 = x + 229
    v230 = x + 230; v231 = x + 231; v232 = x + 232; v233 = x + 233; v234 = x + 234; v235 = x + 235; v236 = x + 236; v237 = x + 237; v238 = x + 238; v239 = x + 239
    v240 = x + 240; v241 = x + 241; v242 = x + 242; v243 = x + 243; v244 = x + 244; v245 = x + 245; v246 = x + 246; v247 = x + 247; v248 = x + 248; v249 = x + 249
    v250 = x + 250; v251 = x + 251; v252 = x + 252; v253 = x + 253; v254 = x + 254; v255 = x + 255; v256 = x + 256; v257 = x + 257; v258 = x + 258; v259 = x + 259
    v260 = x + 260; v261 = x + 261; v262 = x + 262; v263 = x + 263; v264 = x + 264; v265 = x + 265; v266 = x + 266; v267 = x + 267; v268 = x + 268; v269 = x + 269
    v270 = x + 270; v271 = x + 271; v272 = x + 272; v273 = x + 273; v274 = x + 274; v275 = x + 275; v276 = x + 276; v277 = x + 277; v278 = x + 278; v279 = x + 279
    del v7
    v8 = v279 + v278
    return v0, v8, v100, v256, v279, len(locals())


# program: far_jumps
# note: the jumps over the long bodies need EXTENDED_ARG
# f([1]) => record, hit
# f([-1]) => hit exit
# f([]) => hit exit
def f(x):
    total = 0
    for item in x:
        if item > 0:
            total += item * 0; total -= 0
            total += item * 1; total -= 1
            total += item * 2; total -= 2
            total += item * 3; total -= 3
            total += item * 4; total -= 4
            total += item * 5; total -= 5
            total += item * 6; total -= 6
            total += item * 7; total -= 7
            total += item * 8; total -= 8
            total += item * 9; total -= 9
            total += item * 10; total -= 10
            total += item * 11; total -= 11
            total += item * 12; total -= 12
            total += item * 13; total -= 13
            total += item * 14; total -= 14
            total += item * 15; total -= 15
            total += item * 16; total -= 16
            total += item * 17; total -= 17
            total += item * 18; total -= 18
            total += item * 19; total -= 19
            total += item * 20; total -= 20
            total += item * 21; total -= 21
            total += item * 22; total -= 22
            total += item * 23; total -= 23
            total += item * 24; total -= 24
            total += item * 25; total -= 25
            total += item * 26; total -= 26
            total += item * 27; total -= 27
            total += item * 28; total -= 28
            total += item * 29; total -= 29
            total += item * 30; total -= 30
            total += item * 31; total -= 31
            total += item * 32; total -= 32
            total += item * 33; total -= 33
            total += item * 34; total -= 34
            total += item * 35; total -= 35
            total += item * 36; total -= 36
            total += item * 37; total -= 37
            total += item * 38; total -= 38
            total += item * 39; total -= 39
            total += item * 40; total -= 40
            total += item * 41; total -= 41
            total += item * 42; total -= 42
            total += item * 43; total -= 43
            total += item * 44; total -= 44
            total += item * 45; total -= 45
            total += item * 46; total -= 46
            total += item * 47; total -= 47
            total += item * 48; total -= 48
            total += item * 49; total -= 49
            total += item * 50; total -= 50
            total += item * 51; total -= 51
            total += item * 52; total -= 52
            total += item * 53; total -= 53
            total += item * 54; total -= 54
            total += item * 55; total -= 55
            total += item * 56; total -= 56
            total += item * 57; total -= 57
            total += item * 58; total -= 58
            total += item * 59; total -= 59
        else:
            total -= item * 0; total += 1
            total -= item * 1; total += 2
            total -= item * 2; total += 3
            total -= item * 3; total += 4
            total -= item * 4; total += 5
            total -= item * 5; total += 6
            total -= item * 6; total += 7
            total -= item * 7; total += 8
            total -= item * 8; total += 9
            total -= item * 9; total += 10
            total -= item * 10; total += 11
            total -= item * 11; total += 12
            total -= item * 12; total += 13
            total -= item * 13; total += 14
            total -= item * 14; total += 15
            total -= item * 15; total += 16
            total -= item * 16; total += 17
            total -= item * 17; total += 18
            total -= item * 18; total += 19
            total -= item * 19; total += 20
            total -= item * 20; total += 21
            total -= item * 21; total += 22
            total -= item * 22; total += 23
            total -= item * 23; total += 24
            total -= item * 24; total += 25
            total -= item * 25; total += 26
            total -= item * 26; total += 27
            total -= item * 27; total += 28
            total -= item * 28; total += 29
            total -= item * 29; total += 30
            total -= item * 30; total += 31
            total -= item * 31; total += 32
            total -= item * 32; total += 33
            total -= item * 33; total += 34
            total -= item * 34; total += 35
            total -= item * 35; total += 36
            total -= item * 36; total += 37
            total -= item * 37; total += 38
            total -= item * 38; total += 39
            total -= item * 39; total += 40
            total -= item * 40; total += 41
            total -= item * 41; total += 42
            total -= item * 42; total += 43
            total -= item * 43; total += 44
            total -= item * 44; total += 45
            total -= item * 45; total += 46
            total -= item * 46; total += 47
            total -= item * 47; total += 48
            total -= item * 48; total += 49
            total -= item * 49; total += 50
            total -= item * 50; total += 51
            total -= item * 51; total += 52
            total -= item * 52; total += 53
            total -= item * 53; total += 54
            total -= item * 54; total += 55
            total -= item * 55; total += 56
            total -= item * 56; total += 57
            total -= item * 57; total += 58
            total -= item * 58; total += 59
            total -= item * 59; total += 60
    else:
        total += 1
    return total


# program: deep_value_stack
# f(1) => record, hit
# f("s") => hit
def f(x):
    return [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x, 1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]], (x, (x, (x, (x, (x, (x, (x, (x, {"k": (x, x, x, x, x, x)}))))))))]


# program: long_expression_exits_in_the_middle
# f([1, 2, 3]) => record, hit
# f([1, 2.5, 3]) => hit
# f([1, 2, "x"]) => hit exit
def f(x):
    return (x[0] + 1, x[1] * 2, [x[0] + x[1], {"k": x[0] - x[1]}, x[2] * 3, x[2] - 1], x)


# program: del_and_rebind
# f(1) => record, hit
# f("v") => hit
def f(x):
    a = [x]
    b = a
    del a
    a = (b, x)
    del b, x
    b = x = a
    return a, b, x


# program: try_del_unbound
# f(True) => record, hit
# f(False) => miss record
def f(flag):
    if flag:
        y = 1
    try:
        del y
    except UnboundLocalError as error:
        return str(error)
    return "deleted"


# program: star_targets_in_for
# f([(1, 2, 3), (4, 5)]) => record, hit
# f([(1, 2), (4,)]) => hit
# f([()]) => hit exit
def f(rows):
    out = []
    for head, *rest in rows:
        out.append((head, rest))
    for i, out[0] in enumerate("ab"):
        pass
    return out, i


# program: print_and_return_order
# f(1) => record, hit
# f("x") => hit
def f(x):
    print("a", x, sep="-", end="!\n")
    print(f"{x!r:>4}", [x], {x: x})
    return print("last")


# program: reading_input_files
# f("a,b\n1,2\n3,4") => record, hit
# f("a,b\n5,6\n7,8") => hit
import csv
import io
import json


def f(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return rows, json.loads(json.dumps(rows)), sum(int(r["a"]) for r in rows)


# program: regular_expressions
# f("ab12cd3") => record, hit
# f("zz9") => hit
import re


def f(s):
    return re.findall(r"\d+", s), re.sub("[a-z]", lambda m: m[0].upper(), s), re.match("(?P<w>[a-z]+)", s).groupdict()


# program: date_and_decimal
# f(3) => record, hit
# f(10) => hit
import datetime
import decimal
import fractions


def f(n):
    d = datetime.date(2020, 1, n) + datetime.timedelta(days=n)
    return d.isoformat(), decimal.Decimal(n) / 7, fractions.Fraction(n, 6) + 1, d > datetime.date(2020, 1, 5)


# program: operator_module
# f([3, 1, 2], 1) => record, hit
# f([9, 8, 7], 2) => hit
import operator


def f(x, i):
    get = operator.itemgetter(i, 0)
    return get(x), operator.add(x[0], x[1]), operator.attrgetter("real")(i), operator.methodcaller("count", 3)(x)


# program: pickle_and_copy
# f([1, {"a": (2, 3)}]) => record, hit
# f({"k": [1]}) => hit
import copy
import pickle


def f(x):
    return pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)


# program: function_pickles_by_name
# f(1) => record, hit
import pickle


def f(x):
    return pickle.loads(pickle.dumps(f)) is f, x


# program: type_hints_and_docstring
# f(1) => record, hit
# f(2, y=3) => hit
def f(x: int, y: "int" = 5) -> int:
    """Adds."""

    def inner(a: x, *b: y, c: int = x) -> None:
        """Inner."""

    return x + y, inner.__annotations__, inner.__doc__, inner.__kwdefaults__


# program: ellipsis_and_notimplemented
# f(...) => record, hit
# f(NotImplemented) => hit
def f(x):
    return x is ..., x is NotImplemented, [x, ...]


# program: semicolons_and_one_line
# f(1) => record, hit
# f(5) => hit
def f(x): y = x + 1; z = y * 2; return x, y, z


# program: long_string_of_callees_with_exits
# f([3, 4]) => record, hit
# f([3, -4]) => hit exit
# f([-3, 4]) => hit exit
# f([5, 6]) => hit
def clamp(v, low, high):
    return low if v < low else high if v > high else v


def scale(v, *, by=2):
    r = clamp(v, 0, 100)
    return r * by


def f(x):
    return [scale(v) + scale(v, by=3) for v in x]


# program: bytes_of_history
# note: the same function through many traces, in turn
# f(1) => record, hit
# f(1.0) => miss record, hit
# f("1") => miss record, hit
# f(1) => hit
# f(1.0) => hit
# f([1]) => hit
# f(True) => hit
def f(x):
    return x * 2


# program: nested_functions_defaults_evaluated_once
# f([1]) => record, hit
# f([5]) => hit
def f(x):
    def g(a=x.pop(), *, b=x.append("b")):
        return a, b

    return g(), g(1), x


# program: conditional_import_and_function
# f(True) => record, hit
# f(False) => miss record, hit
def f(flag):
    if flag:
        import math as m

        def g(x):
            return m.floor(x)
    else:
        def g(x):
            return x * 10

    return g(2.5)


# program: tuple_parameters_through_sorting
# f([("b", 2), ("a", 3)]) => record, hit
# f([("c", 1), ("a", 1)]) => hit
def f(x):
    x.sort(key=lambda p: (p[1], p[0]))
    return x, max(x, key=lambda p: p[1]), {k: v for k, v in x}


# program: integer_parsing_state_machine
# f("12+34") => record, hit
# f("56+78") => hit
# f("1+2") => hit exit
# f("12-34") => hit exit
def f(s):
    total, number, sign = 0, 0, 1
    for c in s:
        if c.isdigit():
            number = number * 10 + int(c)
        elif c == "+":
            total, number, sign = total + sign * number, 0, 1
        elif c == "-":
            total, number, sign = total + sign * number, 0, -1
    return total + sign * number


# program: memo_in_closure_of_module
# f(10) => record, hit
# f(12) => hit
memo = {}


def fib(n):
    if n in memo:
        return memo[n]
    memo[n] = r = n if n < 2 else fib(n - 1) + fib(n - 2)
    return r


def f(n):
    memo.clear()
    return fib(n)
